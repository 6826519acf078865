"""The sessions with their agents, on fakes: screens are scripted, time is a Clock."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from attrs import evolve

from tests.fakes.multiplexer.multiplexer import FakeMultiplexer, FakeTty
from tests.runtime_harness import FixedRuntimeSettings
from tests.unit.cases.fake_cases import build_fake_cases
from tests.unit.sessions.harness import ADMIN, SessionCase, SessionHarness
from tests.unit.terminal.screen_builders import COMPOSER, PERMISSION, RULE, TRUST
from tservice.agents.build import AgentServices, build_agents
from tservice.agents.transcripts.conversation.reader_cache import ReaderCache
from tservice.core.config.model import Config
from tservice.core.kernel.events import EventHub
from tservice.mux.interface import PaneSpec
from tservice.sessions.build import build_sessions
from tservice.sessions.record.model import Session
from tservice.sessions.service import UncheckedConversations

IDLE_TITLE = "✳ Claude Code"
BUSY_TITLE = "⠂ Claude Code"
SPINNER = f"✻ Slithering… (1s · ↓ 7 tokens)\n\n{COMPOSER}"
NO_TRUST = TRUST.replace(" ❯ 1. Yes", "   1. Yes").replace("   2. No, exit", " ❯ 2. No, exit")

__all__ = ["COMPOSER", "NO_TRUST", "PERMISSION", "RULE", "SPINNER", "TRUST"]


_T = TypeVar("_T")


COMPOSER_ROW = re.compile(r"(?m)^(❯\xa0|› (?!\d\.))(.*)$")
"""The row of a composer: what it begins with, and its draft or placeholder."""


async def run_directly(work: Callable[[], _T], at: str, owner: str | None = None) -> _T:
    """No thread."""
    return work()


def unpriced_readers() -> ReaderCache:
    """Readers of conversations, of which nobody knows the prices."""
    return ReaderCache(lambda _: None)


class ScriptedScreen:
    """A program that shows what the test tells it to, and a paste in its composer until Enter.

    @ivar pressed: what was typed.
    @ivar shown: what was shown last.
    @ivar answers: typed bytes to the screen that they lead to.
    """

    def __init__(self) -> None:
        self.pressed: list[bytes] = []
        self.answers: dict[bytes, str] = {}
        self.shown = ""

    def pane_started(self, tty: FakeTty) -> None:
        self.tty = tty

    def input_received(self, data: bytes) -> None:
        self.pressed.append(data)
        if data in self.answers:
            self.show(self.answers[data])
        else:
            self.echo(data)

    def echo(self, data: bytes) -> None:
        """What comes of C{data} in the composer, if one is shown: a text until its Enter."""
        if COMPOSER_ROW.search(self.shown) is None:
            return
        if data == b"\r":
            self._draw(self.shown)
        elif len(data) > 1 and data[:1] != b"\x1b":
            draft = data.decode().split("\n")[0]
            self._draw(COMPOSER_ROW.sub(lambda row: row[1] + draft, self.shown), draft)

    def pane_resized(self, cols: int, rows: int) -> None:
        """It is drawn anew by the test."""

    def show(self, text: str, title: str | None = None) -> None:
        """Draw a whole screen."""
        if title is not None:
            self.tty.emit_output(f"\x1b]0;{title}\x07".encode())
        self.shown = text
        self._draw(text)

    def _draw(self, text: str, draft: str = "") -> None:
        self.tty.emit_output(b"\x1b[H\x1b[2J" + text.replace("\n", "\r\n").encode())
        composers = list(COMPOSER_ROW.finditer(text))
        if composers:
            row = text.count("\n", 0, composers[-1].start()) + 1
            self.tty.emit_output(b"\x1b[%d;%dH" % (row, 3 + len(draft)))


class AgentMachine(SessionHarness):
    """A machine whose service knows its agents."""

    agents: AgentServices

    def boot(self) -> None:
        self.mux = FakeMultiplexer(self.clock, self.host)
        self.hub = EventHub()
        self.hub.subscribe(self.events.append)
        self.clis = self._clis()
        ground = self.ground()
        self.agents = build_agents(ground, clis=self.clis, sessions=lambda: self.sessions).service
        self.cases = build_fake_cases(ground, lambda: self.sessions, self.git, self.hooks).service
        self.sessions = build_sessions(
            ground,
            cases=self.cases,
            mux=self.mux,
            clis=self.clis,
            api_url=lambda: "http://127.0.0.1:8770",
            set_priority=self.renice,
            support=evolve(self.agents.support, conversations=UncheckedConversations()),
        ).service


class AgentHarnessCase(SessionCase):
    """Tests with a machine, an open service and scripted screens."""

    machine: AgentMachine
    multiuser = False

    def setUp(self) -> None:
        folder = Path(self.mktemp()).absolute()
        config = Config(
            data_dir=folder / "data", cases_dir=folder / "cases", multiuser=self.multiuser
        )
        self.machine = AgentMachine(folder, self.play, config=config)
        self.clock, self.host = self.machine.clock, self.machine.host
        self.work = folder / "work"
        self.work.mkdir()
        self.run_now(self.sessions.load_and_adopt_sessions())

    def play(self, spec: PaneSpec) -> ScriptedScreen:
        return ScriptedScreen()

    @property
    def agents(self) -> AgentServices:
        return self.machine.agents

    def agent(self, screen: str | None = None, mode: str = "primary", **fields: Any) -> Session:
        """A running agent, shown with C{screen} for a moment."""
        session = self.create(ADMIN, mode=mode, working_dir=str(self.work), start=True, **fields)
        if screen is not None:
            self.show(session, screen)
            self.spend(0.5)
            self.machine.events.clear()
        return session

    def demote(self, session: Session) -> None:
        """Its owner loses role and grant; it was started with more than is left."""
        self.sessions.update_record(session.id, params={"permissionMode": "bypassPermissions"})
        self.machine.os_users.demoted.add(ADMIN.username)

    def ready(self, **fields: Any) -> Session:
        """A running primary agent that is idle."""
        return self.agent(COMPOSER, **fields)

    def screen(self, session: Session) -> ScriptedScreen:
        program = self.pane(session).program
        assert isinstance(program, ScriptedScreen)
        return program

    def show(self, session: Session, text: str, title: str | None = None) -> None:
        self.screen(session).show(text, title)

    def change_settings(self, **fields: Any) -> None:
        settings = self.machine.settings
        assert isinstance(settings, FixedRuntimeSettings)
        settings.alter(**fields)

    def hook(self, session: Session, event: str, **data: Any) -> None:
        """A hook of the session's agent fires."""
        from tservice.agents.model import HookEvent

        self.agents.hooks.handle_hook_event(HookEvent(event), session.id, data or None)

    def signals(self) -> list[str]:
        """The signals since this was asked last."""
        wanted = ("idle", "working", "stop", "blocked", "exit")
        found = [e.name[8:] for e in self.machine.events if e.name in _NAMES]
        assert all(name in wanted for name in found)
        self.machine.events.clear()
        return found

    def assert_signals(self, expected: Sequence[str]) -> None:
        self.assertEqual(list(expected), self.signals())

    def status(self, session: Session) -> tuple[str, str | None]:
        found = self.sessions.get(session.id)
        return found.status.value, found.status_reason


_NAMES = {f"session:{name}" for name in ("idle", "working", "stop", "blocked", "exit")}
