"""Whether containers reach the listener for their hooks (protocol-containers)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from attrs import evolve
from twisted.internet.defer import Deferred, succeed
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tservice.containers.bridge_probe import CURL_COMMAND, SECONDS, BridgeProbe, BridgeProbeResult
from tservice.containers.command_runner import EngineCommandResult
from tservice.containers.hook_bridge import HookBridge
from tservice.containers.host_registry import ContainerHostRegistry
from tservice.containers.model import ContainerCase, ContainerHost, EngineKind
from tservice.containers.store import ContainerStore
from tservice.doctor.build import make_bridge_rows
from tservice.doctor.model import ReportRow, ToolStatus
from tservice.store.database import Database

HOST = ContainerHost(id="h", label="H", engine=EngineKind.PODMAN, image="i")
URL = "http://10.88.0.1:4000"


class ReachPort:
    """One that listens."""

    def getHost(self) -> Any:
        return self

    port = 4000

    def stopListening(self) -> Deferred[None]:
        return succeed(None)


class ReachRunner:
    """An engine with some containers.

    @ivar curl: the status of what is run inside; C{None}: it hangs.
    """

    def __init__(self) -> None:
        self.states: dict[str, str] = {}
        self.curl: int | None = 0
        self.asked: list[str] = []

    async def run(self, argv: Any, *, seconds: float = 0) -> EngineCommandResult:
        words = list(argv[1:])
        if words[:2] == ["container", "inspect"]:
            there = [name for name in words[4:] if name in self.states]
            return EngineCommandResult(
                status=0, output="\n".join(map(self.told, there)), error_text=""
            )
        assert words[0] == "exec", words
        name, *rest = words[words.index("curl") - 1 :]
        assert rest == [*CURL_COMMAND, URL], rest
        self.asked.append(name)
        if self.curl is None:
            await Deferred()
        return EngineCommandResult(status=self.curl, output="", error_text="")

    def told(self, name: str) -> str:
        return json.dumps({"Id": "1", "Name": name, "State": {"Status": self.states[name]}})


class BridgeReachTests(SynchronousTestCase):
    """L{BridgeProbe}, and the doctor's rows of it."""

    def setUp(self) -> None:
        self.clock, self.runs = Clock(), ReachRunner()
        self.store = ContainerStore(Database.open_in_memory(clock=Clock()), lambda: "s")
        hosts = ContainerHostRegistry(self.store, self.runs, lambda names: Path("/usr/bin/podman"))
        self.bridge = HookBridge(
            self.clock, lambda port, site, address: ReachPort(), self.store, enabled=True
        )
        site: Any = object()
        self.bridge.set_site(site)
        self.addCleanup(self.bridge.stop)
        self.reach = BridgeProbe(
            clock=self.clock, store=self.store, hosts=hosts, bridge=self.bridge
        )
        self.keep(HOST)

    def keep(self, host: ContainerHost) -> None:
        self.store.save_host(host)
        self.bridge.ensure_listener(host, host.network, "10.88.0.1")

    def case(self, name: str, state: str, **more: Any) -> None:
        box = f"service-case-{name}"
        self.store.save_case(
            ContainerCase(owner="", name=name, host_id="h", container=box, path="/w", **more)
        )
        self.runs.states[box] = state

    def look(self) -> Deferred[list[BridgeProbeResult]]:
        return Deferred.fromCoroutine(self.reach.probe_bridges())

    def row(self) -> ReportRow:
        tried: list[BridgeProbeResult] = self.successResultOf(self.look())
        [row] = make_bridge_rows(tried)
        return row

    def test_bridge_is_probed_from_the_first_running_container(self) -> None:
        """One that stands still, or is on another network, tells nothing."""
        self.case("a", "exited")
        self.case("b", "running", network="none")
        self.case("c", "running")
        row = self.row()
        self.assertEqual(
            ("bridge-podman", ToolStatus.OK, URL, None), (row.id, row.status, row.path, row.reason)
        )
        self.assertEqual(["service-case-c"], self.runs.asked)

    def test_failed_bridge_probe_names_its_cause(self) -> None:
        self.case("a", "running")
        for status, why in ((7, "nothing answers"), (28, "firewall"), (127, "has no curl"),
                            (6, "status 6")):  # fmt: skip
            self.runs.curl = status
            row = self.row()
            self.assertIs(ToolStatus.ERROR, row.status)
            self.assertRegex(row.reason or "", f"^from service-case-a: .*{why}")

    def test_hanging_engine_is_reported(self) -> None:
        self.case("a", "running")
        self.runs.curl = None
        looking = self.look()
        self.clock.advance(SECONDS)
        [tried] = self.successResultOf(looking)
        self.assertEqual("podman did not answer in 8 s", tried.fault)

    def test_bridge_probe_is_skipped_without_a_running_container(self) -> None:
        self.case("a", "paused")
        self.assertIs(ToolStatus.SKIPPED, self.row().status)
        self.assertEqual([], self.runs.asked)

    def test_bridge_without_a_listener_has_no_doctor_row(self) -> None:
        self.bridge.stop()
        self.assertEqual([], self.successResultOf(self.look()))
        self.case("a", "running")
        self.keep(evolve(HOST, id="i", hooks=False))
        self.assertEqual([], self.successResultOf(self.look()))
