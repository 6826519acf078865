"""Builder of the image that comes with the package, for hosts where it is missing or outdated."""

from __future__ import annotations

import hashlib
import re
from collections import deque
from pathlib import Path

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.containers.command_runner import describe_failure, make_engine_command
from tservice.containers.engine import EngineClient, EngineError
from tservice.containers.folders import ContainerFolders
from tservice.containers.model import DEFAULT_IMAGE, ContainerHost
from tservice.core.kernel.errors import make_failure_error, make_not_found_error
from tservice.core.kernel.event_payloads import (
    ImageBuildFailed,
    ImageBuildPayload,
    ImageBuildProgress,
)
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.kernel.shared_work import SharedWork
from tservice.core.process.child import ChildProcess, ChildRunner
from tservice.core.values.payload import Payload

CONTAINERFILE = Path(__file__).with_name("Containerfile")
BUILD_SECONDS = 1800.0
"""Time limit of a build in seconds."""
LOG_LINES = 1000
"""Number of trailing lines of a build's output that are kept."""
LINE_LENGTH = 500
PROGRESS_SECONDS = 0.25
"""Minimum seconds between two progress events of a build."""

_STEP = re.compile(r"(?:STEP\s+|Step\s+|\[)(\d{1,4})/(\d{1,4})")
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_LABEL = "containerfile"


@define(eq=False)
class ImageBuild:
    """Running or finished build of an image.

    @ivar lines: the last lines of its output.
    """

    run: ChildProcess | None = None
    lines: deque[str] = field(factory=lambda: deque(maxlen=LOG_LINES))
    rest: str = ""
    percent: int | None = None
    cancelled: bool = False
    last_event_at: float = 0.0


class ImageBuilder:
    """Builder of the packaged image.  Each host has at most one running build.

    A further request for a host waits for its running build.

    @param environ: environment of the engine commands.
    """

    _log = Logger()

    def __init__(
        self,
        *,
        clock: IReactorTime,
        children: ChildRunner,
        environ: dict[str, str],
        hub: EventHub,
        folders: ContainerFolders,
        containerfile: Path = CONTAINERFILE,
    ) -> None:
        self._clock, self._children = clock, children
        self._environ = environ
        self._hub, self._folders = hub, folders
        self._containerfile = containerfile
        self._builds: dict[str, ImageBuild] = {}
        self._flights: dict[str, SharedWork[None]] = {}

    async def ensure_image(self, host: ContainerHost, engine: EngineClient, image: str) -> None:
        """Build the packaged image if C{image} is that image, and it is missing or outdated.

        The engine itself pulls any other image.

        @raise ServiceError: 422: the image cannot be built.
        @raise EngineError: the engine does not respond.
        """
        if image != DEFAULT_IMAGE:
            return
        found = await engine.find_image(image)
        if found is None or found[1].get(_LABEL) != self._hash_containerfile():
            await self.build_image(host, engine)

    async def build_image(self, host: ContainerHost, engine: EngineClient) -> None:
        """Build the packaged image, even if it already exists.

        @raise ServiceError: 422: the build failed, was too slow, or was cancelled.
        """
        flight = self._flights.get(host.id)
        if flight is None or flight.is_finished:
            flight = self._flights[host.id] = SharedWork(
                self._build_and_publish_events(host, engine)
            )
        await flight.wait_for_result()

    def cancel_build(self, host_id: str) -> None:
        """Cancel the running build of a host.

        @raise ServiceError: 404: no build is running.
        """
        build = self._builds.get(host_id)
        if build is None or build.run is None:
            raise make_not_found_error("A build")
        build.cancelled = True
        build.run.stop()

    def get_log(self, host_id: str) -> tuple[bool, list[str]]:
        """Return true if a build is running, and the output of the latest build.

        The output is kept until the service stops.
        """
        build = self._builds.get(host_id)
        return (False, []) if build is None else (build.run is not None, list(build.lines))

    def forget_host(self, host_id: str) -> None:
        """Remove the build log of a host that was removed."""
        self._builds.pop(host_id, None)

    def stop(self) -> list[Deferred[None]]:
        """Cancel all builds.

        @return: Deferreds, each of which fires after the end of one build.
        """
        for build in self._builds.values():
            if build.run is not None:
                build.cancelled = True
                build.run.stop()
        return [flight.finished for flight in self._flights.values() if not flight.is_finished]

    def _hash_containerfile(self) -> str:
        return hashlib.sha256(self._containerfile.read_bytes()).hexdigest()

    async def _build_and_publish_events(self, host: ContainerHost, engine: EngineClient) -> None:
        build = self._builds[host.id] = ImageBuild()
        about = {"host_id": host.id, "image": DEFAULT_IMAGE}
        self._publish_event(EventName.CONTAINER_IMAGE_BUILD_STARTED, ImageBuildPayload(**about))
        try:
            await self._run_build(build, host, engine)
        except EngineError as error:
            told = ImageBuildFailed(**about, error=str(error))
            self._publish_event(EventName.CONTAINER_IMAGE_BUILD_FAILED, told)
            raise make_failure_error(f"the image {DEFAULT_IMAGE} was not built: {error}") from error
        self._publish_event(EventName.CONTAINER_IMAGE_BUILD_COMPLETE, ImageBuildPayload(**about))

    async def _run_build(
        self, build: ImageBuild, host: ContainerHost, engine: EngineClient
    ) -> None:
        try:
            folder = self._folders.prepare_build(self._containerfile)
        except OSError as error:
            raise EngineError(f"its folder cannot be written: {error.strerror}") from error
        labels = {_LABEL: self._hash_containerfile()}
        argv = engine.dialect.build_command(
            DEFAULT_IMAGE, labels, str(folder / "Containerfile"), str(folder)
        )
        command = make_engine_command(argv, self._environ, BUILD_SECONDS)

        def handle_output(data: bytes) -> bool:
            self._record_build_output(build, host.id, data)
            return True

        try:
            build.run = self._children.start(command, handle_output, handle_output)
        except OSError as error:
            raise EngineError(f"{argv[0]}: {error.strerror}") from error
        done = await build.run.wait_ended()
        build.run = None
        if build.cancelled:
            raise EngineError("it was cancelled")
        if done.status != 0:
            cause = describe_failure(done, BUILD_SECONDS)
            raise EngineError(cause or "the engine failed without an error text")

    def _record_build_output(self, build: ImageBuild, host_id: str, data: bytes) -> None:
        text = build.rest + _COLOURS.sub("", data.decode(errors="replace")).replace("\r", "\n")
        *lines, rest = text.split("\n")
        build.rest = rest[-LINE_LENGTH:]
        for line in filter(str.strip, lines):
            build.lines.append(line[:LINE_LENGTH])
            step = _STEP.search(line)
            if step is not None and int(step[2]):
                build.percent = min(100, 100 * int(step[1]) // int(step[2]))
        now = self._clock.seconds()
        if build.lines and now - build.last_event_at >= PROGRESS_SECONDS:
            build.last_event_at = now
            told = ImageBuildProgress(
                host_id=host_id, image=DEFAULT_IMAGE, percent=build.percent, line=build.lines[-1]
            )
            self._publish_event(EventName.CONTAINER_IMAGE_BUILD_PROGRESS, told)

    def _publish_event(self, name: EventName, told: Payload) -> None:
        self._hub.publish(Event(name=name, payload=told))
