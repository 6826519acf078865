"""The listener for hooks from containers (protocol-containers)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attrs import evolve
from twisted.internet.defer import Deferred, succeed
from twisted.internet.error import CannotListenError
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.http.site_driver import ApiHarness
from tservice.access.authenticators import ContainerAuthenticator
from tservice.access.hook_secret import HEADER, derive_container_secret, parse_secret_container
from tservice.access.passwords.failures import CAP, WINDOW_SECONDS, FailureCounter
from tservice.containers.folders import SECRET_FILE, open_folder, write_hook_secret
from tservice.containers.hook_bridge import RETRY, BridgeState, HookBridge
from tservice.containers.model import ContainerHost, EngineKind
from tservice.containers.store import ContainerStore
from tservice.core.kernel.event_payloads import EmptyPayload
from tservice.http.bridge.gate import BridgeGate, NoPages, NoUpgrades
from tservice.http.operations import AccessRule, Operation, OperationCall
from tservice.store.database import Database

HOST = ContainerHost(id="h", label="H", engine=EngineKind.PODMAN, image="i")
SECRET = "5e" * 32
SITE: Any = object()


class BridgePort:
    """One that listens."""

    def __init__(self, number: int) -> None:
        self.port, self.open = number, True

    def getHost(self) -> Any:
        return self

    def stopListening(self) -> Deferred[None]:
        self.open = False
        return succeed(None)


class BridgeTests(SynchronousTestCase):
    """L{HookBridge}."""

    def setUp(self) -> None:
        self.clock, self.address = Clock(), "10.88.0.1"
        self.store = ContainerStore(Database.open_in_memory(clock=Clock()), lambda: "s")
        self.there = True
        self.listened: list[tuple[int, str]] = []
        self.ports: list[BridgePort] = []
        self.bridge = self.make()

    def make(self, enabled: bool = True) -> HookBridge:
        bridge = HookBridge(self.clock, self.listen, self.store, enabled=enabled)
        bridge.set_site(SITE)
        return bridge

    def listen(self, port: int, site: object, address: str) -> BridgePort:
        self.assertIs(SITE, site)
        if not self.there:
            raise CannotListenError(address, port, OSError(99, "no such address"))
        self.listened.append((port, address))
        self.ports.append(BridgePort(port or 4000 + len(self.ports)))
        return self.ports[-1]

    def look(
        self, host: ContainerHost = HOST, network: str = "bridge", address: str | None = ""
    ) -> str | None:
        self.bridge.ensure_listener(host, network, self.address if address == "" else address)
        return self.bridge.find_url(host, network)

    def test_bridge_listens_only_on_its_address(self) -> None:
        self.assertEqual("http://10.88.0.1:4000", self.look())
        self.assertEqual([(0, "10.88.0.1")], self.listened)
        self.assertEqual("http://10.88.0.1:4000", self.look())
        self.assertEqual(1, len(self.listened))
        self.bridge.stop()
        self.assertFalse(self.ports[0].open)

    def test_restarted_service_listens_on_the_same_port(self) -> None:
        self.look()
        self.bridge.stop()
        self.bridge = self.make()
        self.bridge.start()
        self.assertEqual([(0, "10.88.0.1"), (4000, "10.88.0.1")], self.listened)
        self.assertEqual("http://10.88.0.1:4000", self.bridge.find_url(HOST, "bridge"))

    def test_bridge_address_that_appears_later_is_listened_on(self) -> None:
        self.there = False
        self.assertIsNone(self.look())
        fault = "cannot listen on 10.88.0.1: [Errno 99] no such address"
        state = BridgeState(engine=EngineKind.PODMAN, url=None, fault=fault)
        self.assertEqual([state], self.bridge.list_states())
        self.there = True
        self.clock.advance(RETRY)
        url = self.bridge.find_url(HOST, "bridge")
        self.assertIsNotNone(url)
        state = BridgeState(engine=EngineKind.PODMAN, url=url, fault=None)
        self.assertEqual([state], self.bridge.list_states())

    def test_engine_without_a_bridge_address_is_reported(self) -> None:
        self.assertIsNone(self.look(address=None))
        [state] = self.bridge.list_states()
        self.assertEqual("its bridge is not known: the engine reports no gateway", state.fault)
        self.assertIsNotNone(self.look(), "the next container tells")
        self.assertEqual([None], [state.fault for state in self.bridge.list_states()])

    def test_bridge_listens_again_at_its_moved_address(self) -> None:
        """The address that is remembered is no longer this machine's."""
        self.look()
        self.bridge.stop()
        self.there = False
        self.bridge = self.make()
        self.bridge.start()
        self.there, self.address = True, "10.99.0.1"
        self.assertEqual("http://10.99.0.1:4001", self.look())
        self.assertEqual([], self.clock.getDelayedCalls())
        self.bridge.stop()
        self.bridge = self.make()
        self.bridge.start()
        self.assertEqual("http://10.99.0.1:4001", self.bridge.find_url(HOST, "bridge"))

    def test_hosts_without_hooks_have_no_bridge(self) -> None:
        """Off by the operator, off by the host, on another network."""
        self.assertIsNone(self.look(evolve(HOST, hooks=False)))
        self.assertIsNone(self.look(network="none"))
        self.look()
        self.assertIsNone(self.bridge.find_url(HOST, "none"), "a case's own network")
        self.assertIsNone(self.bridge.find_url(evolve(HOST, hooks=False), "bridge"))
        self.bridge = self.make(enabled=False)
        self.bridge.start()
        self.assertIsNone(self.look())
        self.assertEqual([], self.bridge.list_states())

    def test_stopped_bridge_leaves_no_timer(self) -> None:
        self.there = False
        self.look()
        self.bridge.stop()
        self.assertEqual([], self.clock.getDelayedCalls())


class BridgeGateTests(SynchronousTestCase):
    """What is answered there."""

    def setUp(self) -> None:
        self.callers: list[str | None] = []

        async def handler(call: OperationCall) -> object:
            self.callers.append(call.caller.container)
            return EmptyPayload()

        hook = Operation(
            method="POST",
            path="/api/hook-event",
            access=AccessRule.HOOK,
            handler=handler,
            summary="A hook",
            tag="Hooks",
            response_model=EmptyPayload,
        )
        self.clock = Clock()
        gate = BridgeGate(
            ContainerAuthenticator(SECRET), FailureCounter(self.clock), frozenset({hook.path})
        )
        self.api = ApiHarness([hook], gate, NoPages(), NoUpgrades())

    def ask(self, method: str, path: str, secret: str | None) -> tuple[int, bytes]:
        headers = {} if secret is None else {HEADER: secret}
        answer = self.api.request(method, path, headers=headers)
        return answer.status, answer.content

    def test_secret_of_a_container_identifies_it(self) -> None:
        status, _ = self.ask(
            "POST", "/api/hook-event", derive_container_secret(SECRET, "service-case-a")
        )
        self.assertEqual((200, ["service-case-a"]), (status, self.callers))

    def test_bridge_accepts_only_the_secret_of_the_container(self) -> None:
        """Not the instance's, nor one whose name was changed."""
        of_a = derive_container_secret(SECRET, "service-case-a")
        for wrong in (None, "", SECRET, of_a.replace("case-a", "case-b"), of_a[:-1], f"{of_a}x"):
            self.assertEqual(401, self.ask("POST", "/api/hook-event", wrong)[0], wrong)
        self.assertEqual([], self.callers)

    def test_guessed_secrets_are_capped_while_the_right_one_passes(self) -> None:
        def guess() -> int:
            return self.ask("POST", "/api/hook-event", f"service-case-a.{SECRET}")[0]

        self.assertEqual([401] * CAP + [429] * 2, [guess() for _ in range(CAP + 2)])
        right = derive_container_secret(SECRET, "service-case-a")
        self.assertEqual(200, self.ask("POST", "/api/hook-event", right)[0])
        self.clock.advance(WINDOW_SECONDS)
        self.assertEqual(401, guess())

    def test_other_routes_are_not_found(self) -> None:
        secret = derive_container_secret(SECRET, "service-case-a")
        for method, path in (
            ("GET", "/"),
            ("GET", "/api/hook-event"),
            ("POST", "/api/sessions"),
            ("POST", "/api/hook-event/"),
            ("OPTIONS", "/api/hook-event"),
        ):
            self.assertEqual((404, b"Not Found"), self.ask(method, path, secret), (method, path))

    def test_secret_without_its_container_name_is_refused(self) -> None:
        self.assertIsNone(parse_secret_container(SECRET))
        self.assertEqual("a.b", parse_secret_container(f"a.b.{SECRET}"))


class ContainerSecretFileTests(SynchronousTestCase):
    """L{write_hook_secret}."""

    def test_secret_file_is_not_written_through_a_link(self) -> None:
        base = Path(self.mktemp())
        home = base / "home"
        home.mkdir(parents=True)
        other = base / "other"
        other.write_text("mine")
        (home / SECRET_FILE).symlink_to(other)
        for secret in ("one", "two"):
            with open_folder(home) as folder:
                write_hook_secret(folder, secret)
        self.assertEqual("mine", other.read_text())
        self.assertEqual("two\n", (home / SECRET_FILE).read_text())
        self.assertEqual(0o600, (home / SECRET_FILE).stat().st_mode & 0o777)

    def test_folder_instead_of_the_secret_file_is_set_aside(self) -> None:
        home = Path(self.mktemp())
        for number in (1, 2):
            (home / SECRET_FILE / "kept").mkdir(parents=True)
            with open_folder(home) as folder:
                write_hook_secret(folder, "one")
            self.assertEqual("one\n", (home / SECRET_FILE).read_text())
            self.assertTrue((home / f"{SECRET_FILE}.aside-{number}/kept").is_dir())
            (home / SECRET_FILE).unlink()
