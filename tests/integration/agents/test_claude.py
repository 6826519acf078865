"""Claude Code, played and real, in a real tmux with real hooks: from trust to the end of turns."""

from __future__ import annotations

import os
import secrets
from contextlib import ExitStack
from typing import Any
from unittest import SkipTest

from twisted.internet import reactor
from twisted.internet.defer import Deferred

from tests.agents.cli_cache import CliUnavailable, install_cli
from tests.agents.contract_harness import skip_reason
from tests.agents.harness import AgentEnvironmentHarness
from tests.agents.mock_tui.scenario import VARIABLE, MockScenario
from tests.agents.mocks import install_mock, scenario_env
from tests.agents.netns import loopback_only
from tests.agents.recipes import RECIPES
from tests.event_helpers import to_wire
from tests.integration.mux.harness import TmuxTestCase
from tests.runtime_harness import FixedRuntimeSettings, build_test_runtime
from tests.unit.cases.fake_cases import build_fake_cases
from tests.unit.http.site_driver import NoPages, NoSockets, OpenGate
from tests.unit.sessions.harness import ADMIN
from tservice.access.authenticators import HookAuthenticator
from tservice.access.hook_secret import load_hook_secret
from tservice.agents.build import build_agents
from tservice.agents.hooks.hook_config_writer import FILE, FOLDER
from tservice.agents.hooks.routes import HookRoutes
from tservice.clis.binary_lookup import BinaryLookup
from tservice.clis.launcher import CliRegistry
from tservice.clis.registry_merge import merge_registry
from tservice.clis.stock_entries import load_stock_entries
from tservice.core.callers.authentication import AuthenticationRequest, CredentialsAccepted
from tservice.core.config.model import Config
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.kernel.events import Event, EventHub
from tservice.http.kernel import HttpKernel
from tservice.http.operation_decorator import collect_operations
from tservice.http.operations import Operation
from tservice.http.site import HttpSite
from tservice.sessions.build import build_sessions
from tservice.sessions.interfaces import Session
from tservice.sessions.record.requests import CreateRequest
from tservice.sessions.service import SessionService
from tservice.settings.model import Settings
from tservice.store.database import Database

SIGNALS = {f"session:{name}" for name in ("idle", "working", "stop", "blocked", "exit")}


class SecretGate(OpenGate):
    """Lets in whoever shows the hook secret."""

    def __init__(self, secret: str) -> None:
        super().__init__()
        self._hook = HookAuthenticator(secret)
        self.shut = False

    async def identify_caller(
        self, visit: AuthenticationRequest, operation: Operation | None
    ) -> CredentialsAccepted:
        if self.shut:
            # An agent tells on after the end of its test.
            raise ServiceError(ErrorCode.OPERATION_FAILED, "the test is over")
        verdict = await self._hook.authenticate(visit)
        assert isinstance(verdict, CredentialsAccepted), "the hook showed another secret"
        return verdict


class ClaudeCase(TmuxTestCase):
    """A service without its daemon: sessions, agents, and the routes of their hooks.

    @ivar environ: what the service was started with; L{prepare} fills it.
    """

    environ: dict[str, str]
    pane_env: tuple[str, ...] = ()

    def setUp(self) -> None:
        super().setUp()
        self.home, self.work = self.folder / "home", self.folder / "wo'rk 1"
        for folder in (self.home, self.work, self.folder / "gates"):
            folder.mkdir()
        self.settings = FixedRuntimeSettings()
        # So it asks for permissions whoever runs the tests: root cannot bypass them.
        self.change_settings(primary_mode="normal")
        self.events: list[Event] = []
        self.database = Database.open_in_memory(clock=self.clock)
        self.hub = EventHub()
        self.hub.subscribe(self.events.append)
        self.secret = load_hook_secret(self.folder, secrets.token_bytes)
        self.environ = {
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
        }
        self.prepare()
        self.build()
        self.addCleanup(lambda: Deferred.fromCoroutine(self.finish()))

    def change_settings(self, **fields: Any) -> None:
        self.settings.now = Settings.model_construct(**{**dict(self.settings.now), **fields})

    def prepare(self) -> None:
        """Put an agent on the PATH."""
        raise NotImplementedError

    def build(self) -> None:
        self.clis = CliRegistry(
            settings=self.settings,
            lookup=BinaryLookup(self.clock, self.environ, self.home),
            environ=self.environ,
            pane_env=self.pane_env,
        )
        self.clis.replace_entries(merge_registry(load_stock_entries(), {}))
        self.ground = build_test_runtime(
            self.folder,
            reactor=self.clock,
            database=self.database,
            hub=self.hub,
            settings=self.settings,
            config=Config(data_dir=self.folder, cases_dir=self.folder / "cases"),
            home=self.home,
            environ=self.environ,
        )
        built = build_agents(self.ground, clis=self.clis, sessions=lambda: self.sessions)
        self.agents, self.close_agents = built.service, built.close
        self.listen()
        self.sessions = self.build_sessions()

    def listen(self) -> None:
        operations = collect_operations(
            HookRoutes(self.agents.hooks, self.agents.telemetry, self.agents.channel.decisions)
        )
        self.gate = SecretGate(self.secret)
        kernel = HttpKernel(operations, self.gate, NoPages(), NoSockets())
        site: Any = HttpSite(kernel, reactor)
        self.port: Any = reactor.listenTCP(0, site, interface="127.0.0.1")

    def build_sessions(self) -> SessionService:
        return build_sessions(
            self.ground,
            cases=build_fake_cases(self.ground, lambda: self.sessions).service,
            mux=self.mux,
            clis=self.clis,
            api_url=lambda: f"http://127.0.0.1:{self.port.getHost().port}",
            support=self.agents.support,
        ).service

    async def finish(self) -> None:
        self.sessions.close()
        self.close_agents()
        self.gate.shut = True
        await self.port.stopListening()
        self.database.close()

    # -- what the tests say

    async def start(self) -> Session:
        await self.sessions.load_and_adopt_sessions()
        request = CreateRequest(mode="primary", working_dir=str(self.work), start=True)
        return await self.sessions.create(request, ADMIN)

    def signals(self) -> list[str]:
        return [event.name[8:] for event in self.events if event.name in SIGNALS]

    async def until_signals(self, *expected: str) -> None:
        """Wait until exactly these came since the last time, up to a minute."""
        for _ in range(600):
            if len(self.signals()) >= len(expected):
                break
            await self.pause(0.1)
        self.assertEqual(list(expected), self.signals())
        self.events.clear()

    async def stays_busy(self, session: Session) -> None:
        """A second of looks at the screen finds nothing else."""
        for _ in range(10):
            self.assertEqual("busy", self.sessions.get(session.id).status)
            await self.pause(0.1)

    async def until_shown(self, session: Session, words: str, *, below: str) -> None:
        """Wait until the screen shows C{words} somewhere behind C{below}."""
        for _ in range(600):
            pane = self.sessions.get_pane(session.id)
            assert pane is not None
            screen = b"\n".join((await pane.capture_content()).lines).decode()
            _, found, behind = screen.rpartition(below)
            if found and words in behind:
                return
            await self.pause(0.1)
        self.fail(f"never {words!r} below {below!r}")

    def prompt(self, session: Session, text: str) -> Deferred[None]:
        return Deferred.fromCoroutine(self.sessions.send_prompt(session.id, text))

    async def whole_turn(self) -> Session:
        """The dialog is answered, a prompt that came too early is typed, hooks tell of the turn."""
        session = await self.start()
        await self.prompt(session, "SAY: hello")
        await self.until_signals("idle", "working", "stop", "idle")
        self.assertTrue((self.work / FOLDER / FILE).exists())
        known = self.sessions.get(session.id)
        self.assertTrue(known.hooks_available)
        self.assertEqual(1, len(known.conversation_ids))
        self.assertEqual("stop hook", known.status_reason)
        transcript = self.agents.agents.get_transcript_path(session.id)
        assert transcript is not None
        # An agent writes it behind its answer, and its model is read from the screen.
        await self.until(lambda: os.path.isfile(transcript), "the transcript")
        await self.until(lambda: "Opus" in self.model(session), "the model")
        return session

    def model(self, session: Session) -> str:
        """As it is shown."""
        return str(to_wire(self.sessions.describe_session(session.id))["displayModel"])

    async def refused_dialog(self, session: Session) -> None:
        """No hook tells of Escape: the screen does."""
        await self.prompt(session, "RUN: touch made")
        await self.until_signals("working", "blocked")
        await self.until(
            lambda: self.agents.agents.get_dialog(session.id) is not None, "the dialog"
        )
        self.assertEqual("busy", self.sessions.get(session.id).status)
        await self.sessions.send_key(session.id, "Escape")
        await self.until_signals("idle")
        self.assertFalse((self.work / "made").exists())

    async def restart(self) -> None:
        """Another service takes over the panes."""
        self.sessions.close()
        await self.mux.close()
        self.mux = self.multiplexer()
        self.sessions = self.build_sessions()
        await self.sessions.load_and_adopt_sessions()


class PlayedClaudeSessionTests(ClaudeCase):
    """The whole way of a session of the primary CLI, with a played one."""

    pane_env = (VARIABLE,)

    def prepare(self) -> None:
        scenario = MockScenario(
            gates=str(self.folder / "gates"), record=str(self.folder / "turns.json")
        )
        self.environ |= scenario_env(self.folder / "scenario.json", scenario)
        install_mock(self.folder / "bin", "claude")

    async def test_session_runs_from_trust_dialog_to_the_end_of_its_turns(self) -> None:
        await self.whole_turn()

    async def test_permission_dialog_is_refused_by_its_answer(self) -> None:
        session = await self.start()
        await self.until_signals("idle")
        await self.refused_dialog(session)

    async def test_restarted_service_continues_in_the_middle_of_a_turn(self) -> None:
        session = await self.start()
        await self.until_signals("idle")
        await self.prompt(session, "HOLD: door")
        await self.until_signals("working")
        await self.restart()
        await self.stays_busy(session)
        (self.folder / "gates" / "door").touch()
        await self.until_signals("stop", "idle")

    async def test_status_line_reports_model_and_usage(self) -> None:
        self.change_settings(show_plan_usage_limits=True)
        session = await self.start()
        await self.until_signals("idle")
        await self.prompt(session, "SAY: hello")
        await self.until(
            lambda: self.sessions.get(session.id).display_model_source == "statusline",
            "the status line",
        )
        await self.until(lambda: "stop" in self.signals(), "stop")


class RealClaudeSessionTests(ClaudeCase):
    """The same with the real one, asking a stub model in a network that ends at loopback."""

    timeout = 240

    def prepare(self) -> None:
        try:
            binary = install_cli("claude", os.environ).binary
        except CliUnavailable as why:
            skip = skip_reason(why, "claude")
            raise SkipTest(skip) if skip else why from why
        stack = ExitStack()
        self.addCleanup(stack.close)
        isolated = stack.enter_context(loopback_only())
        self.world = stack.enter_context(AgentEnvironmentHarness("claude", isolated=isolated))
        self.home = self.world.place.home
        launch = RECIPES["claude"](self.world.place, trusted=False)
        self.environ |= {**self.world.env(), **launch.env}
        (self.folder / "bin").mkdir()
        (self.folder / "bin" / "claude").symlink_to(binary)
        self.environ["PATH"] = f"{self.folder / 'bin'}:{self.environ['PATH']}"

    async def test_real_client_runs_turns_dialogs_and_interrupts(self) -> None:
        """One process for all, for it takes long to come up."""
        session = await self.whole_turn()
        await self.refused_dialog(session)
        await self.prompt(session, "HOLD: door")
        await self.until_signals("working")
        await self.restart()
        await self.stays_busy(session)
        self.world.stub.release("door")
        await self.until_signals("stop", "idle")
        await self.prompt(session, "SLOW: 30")
        await self.until_signals("working")
        # Before there are words, Escape would give the prompt back.
        await self.until_shown(session, "●", below="SLOW: 30")
        await self.sessions.send_key(session.id, "Escape")
        await self.until_signals("idle")
