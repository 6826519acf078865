"""Requests to a container engine (protocol-containers)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attrs import evolve, frozen

from tservice.containers.command_lines import ContainerSpec, EngineDialect
from tservice.containers.command_runner import TIME_LIMIT, EngineCommandResult, EngineRunner
from tservice.containers.engine_output import (
    ContainerSnapshot,
    ContainerState,
    ContainerUsage,
    parse_containers,
    parse_event,
    parse_image,
    parse_rootless,
    parse_unenforced_limits,
    parse_usage,
    parse_version,
)
from tservice.core.errors import ServiceError, operation_failed

PULL_SECONDS = 600.0
"""Seconds that creating a container may take: its image may have to be pulled."""

KILL_MILLISECONDS = 10_000
"""Longest time from the first signal of a stop or kill request until the container ends."""

_MISSING = re.compile(
    r"no such (?!file|host)|no container|not known|does not exist|unable to find", re.IGNORECASE
)
"""Matches reports of a missing container or image, but not a missing daemon: C{no such file or
directory}.
"""


class EngineError(Exception):
    """The engine could not do it; the text is one line, fit for a client."""


@frozen(kw_only=True)
class EngineHealth:
    """Result of checking an engine.

    @ivar rootless: it runs without root.
    @ivar unlimited: limits that it does not enforce, for instance for want of control groups.
    """

    version: str | None = None
    rootless: bool = False
    unlimited: tuple[str, ...] = ()
    fault: str | None = None


@frozen
class EngineClient:
    """Container engine on this machine."""

    dialect: EngineDialect
    runner: EngineRunner

    async def check_health(self) -> EngineHealth:
        """Check the engine: its version, and how it runs."""
        told = await self.runner.run(self.dialect.version_command())
        version = parse_version(self.dialect.engine, told.output)
        if version is None or not told.is_success:
            return EngineHealth(fault=told.error_text or "it does not answer")
        info = await self.runner.run(self.dialect.info_command())
        if not info.is_success:
            return EngineHealth(version=version, fault=info.error_text or "it does not answer")
        return EngineHealth(
            version=version,
            rootless=parse_rootless(info.output),
            unlimited=parse_unenforced_limits(info.output),
        )

    async def inspect_containers(self, names: Sequence[str]) -> dict[str, ContainerSnapshot]:
        """Return the state of containers by name; missing ones are left out.

        @raise EngineError: the engine does not answer.
        """
        if not names:
            return {}
        told = await self.runner.run(self.dialect.inspect_command(names))
        # For several names, the engine prints those that exist and fails for the rest.
        if not told.is_success and not _is_missing(told):
            raise EngineError(told.error_text or "the engine does not answer")
        return {seen.name: await self._correct_oom(seen) for seen in parse_containers(told.output)}

    async def _correct_oom(self, seen: ContainerSnapshot) -> ContainerSnapshot:
        """Return the state of a container with C{oom} corrected.

        The engine remembers that the memory limit killed another process in it, even if the
        container was killed on request later.
        """
        if not seen.oom or seen.state is not ContainerState.EXITED or seen.finished is None:
            return seen
        span = (seen.finished - KILL_MILLISECONDS, seen.finished + 1000)
        told = await self.runner.run(self.dialect.kills_command(seen.name, *span))
        kills = [parse_event(line) for line in told.output.splitlines()]
        return evolve(seen, oom=not any(each and each.action == "kill" for each in kills))

    async def find_image(self, name: str) -> tuple[str, dict[str, str]] | None:
        """Return an image's id and the service's labels; C{None}: it is not on this machine.

        @raise EngineError: the engine does not answer.
        """
        told = await self.runner.run(self.dialect.image_command(name))
        if not told.is_success:
            if _is_missing(told):
                return None
            raise EngineError(told.error_text or "the engine does not answer")
        found = parse_image(told.output)
        return None if found is None else (found[0], dict(found[1]))

    async def create_container(self, box: ContainerSpec) -> None:
        """Create a container.

        @raise EngineError: it cannot be created.
        """
        await self._run_checked(self.dialect.create_command(box), PULL_SECONDS)

    async def start_container(self, name: str) -> None:
        """Start a container.

        @raise EngineError: it cannot run.
        """
        await self._run_checked(self.dialect.start_command(name))

    async def stop_container(self, name: str) -> None:
        """Stop a container; returns after its end.

        @raise EngineError: it may still run.
        """
        await self._run_checked(self.dialect.compose_command("stop", name))

    async def resume_container(self, name: str) -> None:
        """Resume a paused container.

        @raise EngineError: it stays paused.
        """
        await self._run_checked(self.dialect.compose_command("unpause", name))

    async def remove_container(self, name: str) -> None:
        """Remove a container; a missing one is no error.

        @raise EngineError: it may still be there.
        """
        told = await self.runner.run(self.dialect.remove_command(name))
        if not told.is_success and not _is_missing(told):
            raise EngineError(told.error_text or "it cannot be removed")

    async def get_usage(self, name: str) -> ContainerUsage | None:
        """Return the resources that a container uses; C{None}: the engine does not report them."""
        told = await self.runner.run(self.dialect.usage_command(name))
        return parse_usage(told.output) if told.is_success else None

    async def get_last_errors(self, name: str) -> str:
        """Return the last error output of a container; empty if there is none."""
        return (
            await self.runner.run(self.dialect.compose_command("logs", "--tail", "20", name))
        ).error_text

    async def run_inside(self, name: str, argv: Sequence[str]) -> EngineCommandResult:
        """Run a short command inside, as the container's user."""
        return await self.runner.run(self.dialect.exec_command(name, argv))

    async def _run_checked(self, argv: Sequence[str], seconds: float = TIME_LIMIT) -> None:
        told = await self.runner.run(argv, seconds=seconds)
        if not told.is_success:
            raise EngineError(told.error_text or f"it did not finish in {seconds:g} s")


def to_service_error(error: EngineError, what: str) -> ServiceError:
    """Return a 422 with the engine's error text."""
    return operation_failed(f"{what}: {error}")


def is_running(seen: ContainerSnapshot | None) -> bool:
    """Return true if processes can be started in the container now."""
    return seen is not None and seen.state is ContainerState.RUNNING


def _is_missing(told: EngineCommandResult) -> bool:
    return _MISSING.search(told.error_text) is not None
