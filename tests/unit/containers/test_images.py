"""The packaged image: built where it is missing or has changed, told of, cut short."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.fakes.child_processes import FakeProcesses, FakeTransport
from tservice.containers.command_lines import EngineDialect
from tservice.containers.command_runner import EngineCommandResult
from tservice.containers.engine import EngineClient
from tservice.containers.folders import ContainerFolders
from tservice.containers.images import CONTAINERFILE, LOG_LINES, ImageBuilder
from tservice.containers.model import DEFAULT_IMAGE, ContainerHost
from tservice.containers.model import EngineKind as EngineName
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.kernel.events import Event, EventHub

HOST = ContainerHost(id="h", label="H", engine=EngineName.PODMAN, image=DEFAULT_IMAGE)


class ImageRunner:
    """An engine that knows one image, or none."""

    def __init__(self) -> None:
        self.label: str | None = None

    async def run(self, argv: Any, *, seconds: float = 0) -> EngineCommandResult:
        if self.label is None:
            return EngineCommandResult(status=125, output="[]", error_text="Error: no such image")
        found = {"Id": "1", "Config": {"Labels": {"tservice.containerfile": self.label}}}
        return EngineCommandResult(status=0, output=json.dumps(found), error_text="")


class ContainerImageTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.clock, self.hub, self.runs = Clock(), EventHub(), ImageRunner()
        self.processes = FakeProcesses()
        self.told: list[Event] = []
        self.hub.subscribe(self.told.append)
        base = Path(self.mktemp())
        self.folders = ContainerFolders(base / "containers")
        base.mkdir()
        self.images = ImageBuilder(
            clock=self.clock,
            children=self.processes.make_runner(self.clock),
            environ={},
            hub=self.hub,
            folders=self.folders,
        )
        self.engine = EngineClient(EngineDialect(EngineName.PODMAN, "/usr/bin/podman"), self.runs)

    @property
    def children(self) -> list[FakeTransport]:
        return self.processes.spawned

    def prints(self, text: str) -> None:
        self.children[0].protocol.outReceived(text.encode())

    def ensure(self, image: str = DEFAULT_IMAGE) -> Deferred[None]:
        return Deferred.fromCoroutine(self.images.ensure_image(HOST, self.engine, image))

    def names(self) -> list[str]:
        return [event.name.value.removeprefix("container:imageBuild") for event in self.told]

    def refused(self, work: Deferred[None]) -> str:
        error: ServiceError = self.failureResultOf(work, ServiceError).value
        self.assertIs(ErrorCode.OPERATION_FAILED, error.code)
        return error.message

    def test_missing_image_is_built_once_from_the_packaged_file(self) -> None:
        """Built of the packaged file and nothing else; who comes meanwhile waits for the same."""
        first, second = self.ensure(), self.ensure()
        [child] = self.children
        argv = self.processes.calls[0]["args"]
        folder = Path(argv[-1])
        self.assertEqual(CONTAINERFILE.read_bytes(), (folder / "Containerfile").read_bytes())
        self.assertEqual(["Containerfile"], [each.name for each in folder.iterdir()])
        self.assertEqual(["build", "--tag", DEFAULT_IMAGE], argv[1:4])
        self.clock.advance(1)
        self.prints("STEP 1/4: FROM debian\nSTEP 2/4: RUN x\n")
        self.prints("\x1b[31mhalf a ")
        self.clock.advance(1)
        self.prints("line\n")
        child.finish()
        self.successResultOf(first)
        self.successResultOf(second)
        self.assertEqual(["Started", "Progress", "Progress", "Complete"], self.names())
        last = self.told[2].payload
        self.assertEqual((50, "half a line"), (last.percent, last.line))  # type: ignore[attr-defined]
        self.assertEqual(
            (False, ["STEP 1/4: FROM debian", "STEP 2/4: RUN x", "half a line"]),
            self.images.get_log("h"),
        )

    def test_image_of_an_older_release_is_rebuilt(self) -> None:
        self.ensure()
        label = next(word for word in self.processes.calls[0]["args"] if "containerfile=" in word)
        self.children[0].finish()
        self.runs.label = label.partition("=")[2]
        self.successResultOf(self.ensure())
        self.runs.label = "of an older release"
        self.assertNoResult(self.ensure())
        self.assertEqual(2, len(self.children))
        self.children[1].finish()

    def test_custom_image_is_left_to_the_engine(self) -> None:
        self.successResultOf(self.ensure("debian:12"))
        self.assertEqual([], self.children)

    def test_failed_build_gives_the_cause(self) -> None:
        work = self.ensure()
        self.children[0].protocol.errReceived(b"Error: no route to the registry\n")
        self.children[0].finish(1)
        self.assertIn("no route to the registry", self.refused(work))
        self.assertEqual("Failed", self.names()[-1])

    def test_cancelled_build_is_announced_as_failed(self) -> None:
        work = self.ensure()
        self.images.cancel_build("h")
        self.assertEqual([signal.SIGKILL], self.children[0].signals)
        self.children[0].finish(None, signal.SIGKILL)
        self.assertIn("cancelled", self.refused(work))
        self.assertEqual(["Started", "Failed"], self.names())
        error = self.assertRaises(ServiceError, self.images.cancel_build, "h")
        self.assertIs(ErrorCode.NOT_FOUND, error.code)

    def test_build_log_and_progress_are_bounded(self) -> None:
        work = self.ensure()
        for number in range(LOG_LINES + 10):
            self.prints(f"{number} {'x' * 5000}\n")
        running, lines = self.images.get_log("h")
        self.assertEqual((True, LOG_LINES, 500), (running, len(lines), len(lines[0])))
        self.assertLessEqual(self.names().count("Progress"), 1)
        self.clock.advance(1801)
        self.children[0].finish(None, signal.SIGKILL)
        self.assertIn("did not finish", self.refused(work))
        self.images.forget_host("h")
        self.assertEqual((False, []), self.images.get_log("h"))
