"""An engine, asked and told (protocol-containers)."""

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
from tservice.core.errors import ServiceError, failed

PULL_SECONDS = 600.0
"""That making a container may take: its image may have to be fetched."""

KILL_MILLISECONDS = 10_000
"""At most from the first signal of who has a container stopped or killed until it ends."""

_NOT_THERE = re.compile(
    r"no such (?!file|host)|no container|not known|does not exist|unable to find", re.IGNORECASE
)
"""Not what a client says that finds no daemon: C{no such file or directory}."""


class EngineError(Exception):
    """It could not be done; the text is one line, fit for a client."""


@frozen(kw_only=True)
class Works:
    """Whether an engine works, and why not.

    @ivar rootless: it runs without root.
    @ivar unlimited: of what it sets no limit, as where it has no control groups.
    """

    version: str | None = None
    rootless: bool = False
    unlimited: tuple[str, ...] = ()
    fault: str | None = None


@frozen
class Engine:
    """One engine on this machine."""

    tongue: Tongue
    runner: IRunner

    async def works(self) -> Works:
        """Ask it what it is."""
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
        """What is known of containers by their names; those that are not there are left out.

        @raise EngineError: the engine does not answer.
        """
        if not names:
            return {}
        told = await self.runner.run(self.tongue.inspect(names))
        # Asked for several, it tells of those that are there and complains of the rest.
        if not told.well and not _is_missing(told):
            raise EngineError(told.said or "the engine does not answer")
        return {seen.name: await self._judged(seen) for seen in read_seen(told.out)}

    async def _judged(self, seen: Seen) -> Seen:
        """What is known of a container, where the engine remembers of the memory's limit that it
        ended something else in it before somebody had the container killed."""
        if not seen.oom or seen.state is not State.EXITED or seen.finished is None:
            return seen
        span = (seen.finished - KILL_MILLISECONDS, seen.finished + 1000)
        told = await self.runner.run(self.tongue.kills(seen.name, *span))
        kills = [read_happening(line) for line in told.out.splitlines()]
        return evolve(seen, oom=not any(each and each.action == "kill" for each in kills))

    async def has_image(self, name: str) -> tuple[str, dict[str, str]] | None:
        """Its id and our labels; C{None}: it is not here.

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
        """Make a container.

        @raise EngineError: it cannot be made.
        """
        await self._do(self.tongue.create(box), PULL_SECONDS)

    async def start(self, name: str) -> None:
        """@raise EngineError: it cannot run."""
        await self._do(self.tongue.start(name))

    async def stop(self, name: str) -> None:
        """Returns once it runs no more.

        @raise EngineError: it may still run.
        """
        await self._do(self.tongue.command("stop", name))

    async def unpause(self, name: str) -> None:
        """@raise EngineError: it stays paused."""
        await self._do(self.tongue.command("unpause", name))

    async def remove(self, name: str) -> None:
        """@raise EngineError: it may still be there."""
        told = await self.runner.run(self.tongue.remove(name))
        if not told.well and not _is_missing(told):
            raise EngineError(told.said or "it cannot be removed")

    async def usage(self, name: str) -> Usage | None:
        """What it uses; C{None}: nobody can tell."""
        told = await self.runner.run(self.tongue.usage(name))
        return read_usage(told.out) if told.well else None

    async def last_words(self, name: str) -> str:
        """What was complained of in a container at last; empty where nothing was."""
        return (await self.runner.run(self.tongue.command("logs", "--tail", "20", name))).said

    async def execute(self, name: str, argv: Sequence[str]) -> Done:
        """Run something short inside, as whom everything runs there."""
        return await self.runner.run(self.tongue.execute(name, argv))

    async def _do(self, argv: Sequence[str], seconds: float = TIME_LIMIT) -> None:
        told = await self.runner.run(argv, seconds=seconds)
        if not told.well:
            raise EngineError(told.said or f"it was not done in {seconds:g} s")


def refused(error: EngineError, what: str) -> ServiceError:
    """A 422 that tells what the engine said."""
    return failed(f"{what}: {error}")


def is_up(seen: Seen | None) -> bool:
    """Whether something can run in it now."""
    return seen is not None and seen.state is State.RUNNING


def _is_missing(told: Done) -> bool:
    return _NOT_THERE.search(told.said) is not None
