"""Requests to a container engine (protocol-containers)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attrs import evolve, frozen

from tservice.containers.answers import (
    Seen,
    State,
    Usage,
    read_happening,
    read_image,
    read_rootless,
    read_seen,
    read_unlimited,
    read_usage,
    read_version,
)
from tservice.containers.argv import Box, Tongue
from tservice.containers.child import TIME_LIMIT, Done, IRunner
from tservice.core.errors import ServiceError, operation_failed

PULL_SECONDS = 600.0
"""Seconds that creating a container may take: its image may have to be pulled."""

KILL_MILLISECONDS = 10_000
"""Longest time from the first signal of a stop or kill request until the container ends."""

_NOT_THERE = re.compile(
    r"no such (?!file|host)|no container|not known|does not exist|unable to find", re.IGNORECASE
)
"""Matches reports of a missing container or image, but not a missing daemon: C{no such file or
directory}.
"""


class EngineError(Exception):
    """The engine could not do it; the text is one line, fit for a client."""


@frozen(kw_only=True)
class Works:
    """Result of checking an engine.

    @ivar rootless: it runs without root.
    @ivar unlimited: limits that it does not enforce, for instance for want of control groups.
    """

    version: str | None = None
    rootless: bool = False
    unlimited: tuple[str, ...] = ()
    fault: str | None = None


@frozen
class Engine:
    """Container engine on this machine."""

    tongue: Tongue
    runner: IRunner

    async def works(self) -> Works:
        """Check the engine: its version, and how it runs."""
        told = await self.runner.run(self.tongue.version())
        version = read_version(self.tongue.engine, told.out)
        if version is None or not told.well:
            return Works(fault=told.said or "it does not answer")
        info = await self.runner.run(self.tongue.info())
        if not info.well:
            return Works(version=version, fault=info.said or "it does not answer")
        return Works(
            version=version, rootless=read_rootless(info.out), unlimited=read_unlimited(info.out)
        )

    async def look(self, names: Sequence[str]) -> dict[str, Seen]:
        """Return the state of containers by name; missing ones are left out.

        @raise EngineError: the engine does not answer.
        """
        if not names:
            return {}
        told = await self.runner.run(self.tongue.inspect(names))
        # For several names, the engine prints those that exist and fails for the rest.
        if not told.well and not _is_missing(told):
            raise EngineError(told.said or "the engine does not answer")
        return {seen.name: await self._judged(seen) for seen in read_seen(told.out)}

    async def _judged(self, seen: Seen) -> Seen:
        """Return the state of a container with C{oom} corrected.

        The engine remembers that the memory limit killed another process in it, even if the
        container was killed on request later.
        """
        if not seen.oom or seen.state is not State.EXITED or seen.finished is None:
            return seen
        span = (seen.finished - KILL_MILLISECONDS, seen.finished + 1000)
        told = await self.runner.run(self.tongue.kills(seen.name, *span))
        kills = [read_happening(line) for line in told.out.splitlines()]
        return evolve(seen, oom=not any(each and each.action == "kill" for each in kills))

    async def has_image(self, name: str) -> tuple[str, dict[str, str]] | None:
        """Return an image's id and the service's labels; C{None}: it is not on this machine.

        @raise EngineError: the engine does not answer.
        """
        told = await self.runner.run(self.tongue.image(name))
        if not told.well:
            if _is_missing(told):
                return None
            raise EngineError(told.said or "the engine does not answer")
        found = read_image(told.out)
        return None if found is None else (found[0], dict(found[1]))

    async def create(self, box: Box) -> None:
        """Create a container.

        @raise EngineError: it cannot be created.
        """
        await self._do(self.tongue.create(box), PULL_SECONDS)

    async def start(self, name: str) -> None:
        """Start a container.

        @raise EngineError: it cannot run.
        """
        await self._do(self.tongue.start(name))

    async def stop(self, name: str) -> None:
        """Stop a container; returns after its end.

        @raise EngineError: it may still run.
        """
        await self._do(self.tongue.command("stop", name))

    async def unpause(self, name: str) -> None:
        """Resume a paused container.

        @raise EngineError: it stays paused.
        """
        await self._do(self.tongue.command("unpause", name))

    async def remove(self, name: str) -> None:
        """Remove a container; a missing one is no error.

        @raise EngineError: it may still be there.
        """
        told = await self.runner.run(self.tongue.remove(name))
        if not told.well and not _is_missing(told):
            raise EngineError(told.said or "it cannot be removed")

    async def usage(self, name: str) -> Usage | None:
        """Return the resources that a container uses; C{None}: the engine does not report them."""
        told = await self.runner.run(self.tongue.usage(name))
        return read_usage(told.out) if told.well else None

    async def last_words(self, name: str) -> str:
        """Return the last error output of a container; empty if there is none."""
        return (await self.runner.run(self.tongue.command("logs", "--tail", "20", name))).said

    async def execute(self, name: str, argv: Sequence[str]) -> Done:
        """Run a short command inside, as the container's user."""
        return await self.runner.run(self.tongue.execute(name, argv))

    async def _do(self, argv: Sequence[str], seconds: float = TIME_LIMIT) -> None:
        told = await self.runner.run(argv, seconds=seconds)
        if not told.well:
            raise EngineError(told.said or f"it did not finish in {seconds:g} s")


def refused(error: EngineError, what: str) -> ServiceError:
    """Return a 422 with the engine's error text."""
    return operation_failed(f"{what}: {error}")


def is_up(seen: Seen | None) -> bool:
    """Return true if processes can be started in the container now."""
    return seen is not None and seen.state is State.RUNNING


def _is_missing(told: Done) -> bool:
    return _NOT_THERE.search(told.said) is not None
