"""Image that comes with the package; it is built if missing or outdated."""

from __future__ import annotations

import hashlib
import re
from collections import deque
from pathlib import Path

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorProcess, IReactorTime
from twisted.logger import Logger

from tservice.containers.child import OneRun
from tservice.containers.engine import Engine, EngineError
from tservice.containers.folders import Folders
from tservice.containers.model import DEFAULT_IMAGE, ContainerHost
from tservice.core.errors import not_found, operation_failed
from tservice.core.event_payloads import ImageBuildFailed, ImageBuildPayload, ImageBuildProgress
from tservice.core.events import Event, EventHub, EventName
from tservice.core.payload import Payload
from tservice.core.shared_work import SharedWork
from tservice.core.timers import cancel_call

CONTAINERFILE = Path(__file__).with_name("Containerfile")
BUILD_SECONDS = 1800.0
"""Seconds that a build may take."""
LOG_LINES = 1000
"""Lines of a build that are kept: the last ones."""
LINE_LENGTH = 500
TOLD_EVERY = 0.25
"""Seconds between two progress events of a build."""

_STEP = re.compile(r"(?:STEP\s+|Step\s+|\[)(\d{1,4})/(\d{1,4})")
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_LABEL = "containerfile"


@define(eq=False)
class Build:
    """Build of an image, running or finished.

    @ivar lines: its last lines of output.
    """

    run: OneRun | None = None
    lines: deque[str] = field(factory=lambda: deque(maxlen=LOG_LINES))
    rest: str = ""
    percent: int | None = None
    cancelled: bool = False
    told_at: float = 0.0


class Images:
    """Builds of the packaged image, at most one at a time for each host.

    Further requests for a host join its running build.

    @param environ: the environment of the engines.
    """

    _log = Logger()

    def __init__(
        self,
        *,
        clock: IReactorTime,
        processes: IReactorProcess,
        environ: dict[str, str],
        hub: EventHub,
        folders: Folders,
        containerfile: Path = CONTAINERFILE,
    ) -> None:
        self._clock, self._processes = clock, processes
        self._environ = environ
        self._hub, self._folders = hub, folders
        self._containerfile = containerfile
        self._builds: dict[str, Build] = {}
        self._flights: dict[str, SharedWork[None]] = {}

    async def ensure(self, host: ContainerHost, engine: Engine, image: str) -> None:
        """Build C{image} if it is the packaged one and missing or outdated; the engine fetches any
        other.

        @raise ServiceError: 422: it cannot be built.
        @raise EngineError: the engine does not answer.
        """
        if image != DEFAULT_IMAGE:
            return
        found = await engine.has_image(image)
        if found is None or found[1].get(_LABEL) != self._digest():
            await self.build(host, engine)

    async def build(self, host: ContainerHost, engine: Engine) -> None:
        """Build the image, even if it exists.

        @raise ServiceError: 422: it fails, takes too long, or was cancelled.
        """
        flight = self._flights.get(host.id)
        if flight is None or flight.is_finished:
            flight = self._flights[host.id] = SharedWork(self._build(host, engine))
        await flight.wait_for_result()

    def cancel(self, host_id: str) -> None:
        """Cancel a build.

        @raise ServiceError: 404: none runs.
        """
        build = self._builds.get(host_id)
        if build is None or build.run is None:
            raise not_found("A build")
        build.cancelled = True
        build.run.kill()

    def log(self, host_id: str) -> tuple[bool, list[str]]:
        """Return whether a build runs, and the output of the last one, which is kept until the
        service stops.
        """
        build = self._builds.get(host_id)
        return (False, []) if build is None else (build.run is not None, list(build.lines))

    def forget(self, host_id: str) -> None:
        """Remove the build log of a host that was removed."""
        self._builds.pop(host_id, None)

    def stop(self) -> list[Deferred[None]]:
        """Cancel all builds; each Deferred fires after the end of one."""
        for build in self._builds.values():
            if build.run is not None:
                build.cancelled = True
                build.run.kill()
        return [flight.finished for flight in self._flights.values() if not flight.is_finished]

    def _digest(self) -> str:
        return hashlib.sha256(self._containerfile.read_bytes()).hexdigest()

    async def _build(self, host: ContainerHost, engine: Engine) -> None:
        build = self._builds[host.id] = Build()
        about = {"host_id": host.id, "image": DEFAULT_IMAGE}
        self._tell(EventName.CONTAINER_IMAGE_BUILD_STARTED, ImageBuildPayload(**about))
        try:
            await self._run(build, host, engine)
        except EngineError as error:
            told = ImageBuildFailed(**about, error=str(error))
            self._tell(EventName.CONTAINER_IMAGE_BUILD_FAILED, told)
            raise operation_failed(f"the image {DEFAULT_IMAGE} was not built: {error}") from error
        self._tell(EventName.CONTAINER_IMAGE_BUILD_COMPLETE, ImageBuildPayload(**about))

    async def _run(self, build: Build, host: ContainerHost, engine: Engine) -> None:
        try:
            folder = self._folders.prepare_build(self._containerfile)
        except OSError as error:
            raise EngineError(f"its folder cannot be written: {error.strerror}") from error
        labels = {_LABEL: self._digest()}
        argv = engine.tongue.build(
            DEFAULT_IMAGE, labels, str(folder / "Containerfile"), str(folder)
        )
        run = build.run = OneRun(lambda data: self._heard(build, host.id, data))
        try:
            self._processes.spawnProcess(run, argv[0], argv, env=self._environ, path="/")
        except OSError as error:
            build.run = None
            raise EngineError(f"{argv[0]}: {error.strerror}") from error
        timer = self._clock.callLater(BUILD_SECONDS, run.kill)
        try:
            done = await run.ended
            in_time = timer.active()
        finally:
            cancel_call(timer)
            build.run = None
        if build.cancelled:
            raise EngineError("it was cancelled")
        if not in_time:
            raise EngineError(f"it did not finish in {BUILD_SECONDS:g} s")
        if not done.well:
            raise EngineError(done.said or "the engine failed without an error text")

    def _heard(self, build: Build, host_id: str, data: bytes) -> None:
        text = build.rest + _COLOURS.sub("", data.decode(errors="replace")).replace("\r", "\n")
        *lines, rest = text.split("\n")
        build.rest = rest[-LINE_LENGTH:]
        for line in filter(str.strip, lines):
            build.lines.append(line[:LINE_LENGTH])
            step = _STEP.search(line)
            if step is not None and int(step[2]):
                build.percent = min(100, 100 * int(step[1]) // int(step[2]))
        now = self._clock.seconds()
        if build.lines and now - build.told_at >= TOLD_EVERY:
            build.told_at = now
            told = ImageBuildProgress(
                host_id=host_id, image=DEFAULT_IMAGE, percent=build.percent, line=build.lines[-1]
            )
            self._tell(EventName.CONTAINER_IMAGE_BUILD_PROGRESS, told)

    def _tell(self, name: EventName, told: Payload) -> None:
        self._hub.publish(Event(name=name, payload=told))
