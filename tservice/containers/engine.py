"""Client of a container engine (protocol-containers)."""

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
from tservice.core.kernel.errors import ServiceError, make_failure_error

PULL_SECONDS = 600.0
"""Time limit in seconds of creating a container, which may have to pull the image."""

KILL_MILLISECONDS = 10_000
"""Maximum milliseconds from the first signal of a stop or kill request to the container's end."""

_MISSING = re.compile(
    r"no such (?!file|host)|no container|not known|does not exist|unable to find", re.IGNORECASE
)
"""Matches errors about a missing container or image.

Errors about a missing daemon (C{no such file or directory}) do not match.
"""


class EngineError(Exception):
    """A request to the engine failed.

    The text is one line and may be shown to a client.
    """


@frozen(kw_only=True)
class EngineHealth:
    """Result of checking an engine.

    @ivar rootless: true if the engine runs without root.
    @ivar unlimited: names of resource limits that the engine does not enforce, for example because
        control groups are missing.
    """

    version: str | None = None
    rootless: bool = False
    unlimited: tuple[str, ...] = ()
    fault: str | None = None


@frozen
class EngineClient:
    """Client of a container engine on this machine."""

    dialect: EngineDialect
    runner: EngineRunner

    async def check_health(self) -> EngineHealth:
        """Return the engine's version and configuration."""
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
        """Return the state of containers by name.  Missing containers are left out.

        @raise EngineError: the engine does not respond.
        """
        if not names:
            return {}
        told = await self.runner.run(self.dialect.inspect_command(names))
        # For several names, the engine prints those that exist and fails for the rest.
        if not told.is_success and not _is_missing(told):
            raise EngineError(told.error_text or "the engine does not answer")
        return {seen.name: await self._correct_oom(seen) for seen in parse_containers(told.output)}

    async def _correct_oom(self, seen: ContainerSnapshot) -> ContainerSnapshot:
        """Return the state of a container with a corrected field C{oom}.

        The engine reports C{oom} if the memory limit ever killed another process in the container,
        even if the container itself was later killed on request.
        """
        if not seen.oom or seen.state is not ContainerState.EXITED or seen.finished is None:
            return seen
        span = (seen.finished - KILL_MILLISECONDS, seen.finished + 1000)
        told = await self.runner.run(self.dialect.kill_events_command(seen.name, *span))
        kills = [parse_event(line) for line in told.output.splitlines()]
        return evolve(seen, oom=not any(each and each.action == "kill" for each in kills))

    async def find_image(self, name: str) -> tuple[str, dict[str, str]] | None:
        """Return an image's id and its labels; C{None} if the image is not on this machine.

        @raise EngineError: the engine does not respond.
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

        @raise EngineError: the container cannot be created.
        """
        await self._run_or_raise(self.dialect.create_command(box), PULL_SECONDS)

    async def start_container(self, name: str) -> None:
        """Start a container.

        @raise EngineError: the container cannot be started.
        """
        await self._run_or_raise(self.dialect.start_command(name))

    async def stop_container(self, name: str) -> None:
        """Stop a container and wait for its end.

        @raise EngineError: the container may still be running.
        """
        await self._run_or_raise(self.dialect.build_engine_command("stop", name))

    async def wait_for_end(self, name: str) -> None:
        """Wait until the engine has noticed that a container has ended, for a limited time."""
        await self.runner.run(self.dialect.build_engine_command("wait", name))

    async def resume_container(self, name: str) -> None:
        """Resume a paused container.

        @raise EngineError: the container is still paused.
        """
        await self._run_or_raise(self.dialect.build_engine_command("unpause", name))

    async def remove_container(self, name: str) -> None:
        """Remove a container.  A missing one is no error.

        @raise EngineError: the container may still exist.
        """
        told = await self.runner.run(self.dialect.remove_command(name))
        if not told.is_success and not _is_missing(told):
            raise EngineError(told.error_text or "it cannot be removed")

    async def get_usage(self, name: str) -> ContainerUsage | None:
        """Return the resource usage of a container; C{None} if the engine reports none."""
        told = await self.runner.run(self.dialect.usage_command(name))
        return parse_usage(told.output) if told.is_success else None

    async def get_last_errors(self, name: str) -> str:
        """Return the last error output of a container's main process; empty if there is none.

        The runner bounds the output.  C{--tail} of podman would drop the beginning of a line that
        was written in several parts.
        """
        return (await self.runner.run(self.dialect.build_engine_command("logs", name))).error_text

    async def run_inside(self, name: str, argv: Sequence[str]) -> EngineCommandResult:
        """Run a short command in the container, as the container's user."""
        return await self.runner.run(self.dialect.exec_command(name, argv))

    async def _run_or_raise(self, argv: Sequence[str], seconds: float = TIME_LIMIT) -> None:
        told = await self.runner.run(argv, seconds=seconds)
        if not told.is_success:
            raise EngineError(told.error_text or f"it did not finish in {seconds:g} s")


def to_service_error(error: EngineError, what: str) -> ServiceError:
    """Return a 422 error with the engine's error text.

    @param what: phrase for the failed operation, which begins the text.
    """
    return make_failure_error(f"{what}: {error}")


def is_running(seen: ContainerSnapshot | None) -> bool:
    """Return true if the container runs and is not paused, so it can start processes."""
    return seen is not None and seen.state is ContainerState.RUNNING


def _is_missing(told: EngineCommandResult) -> bool:
    return _MISSING.search(told.error_text) is not None
