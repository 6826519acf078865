"""Every dialog that the mocks play, raised, seen, answered and refused through the daemon.

Nothing needs a network.  One daemon serves all; most tests start a session of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, ClassVar

import pytest
from attrs import field, frozen
from twisted.trial.unittest import SynchronousTestCase

from tests.agents.mock_tui.scenario import MockScenario
from tests.held_port import HeldPort
from tests.integration.agents.harness import PlayedSession, played_daemon
from tests.integration.events import EventLog
from tests.integration.harness import PATIENCE, DaemonHarness

AT_ONCE = 6
"""Sessions at the same time."""


class LayoutCase(SynchronousTestCase):
    """Sessions of played agents on one daemon."""

    daemon: ClassVar[DaemonHarness]

    @classmethod
    def setUpClass(cls) -> None:
        cls.daemon = played_daemon()
        cls.addClassCleanup(cls.daemon.close)
        cls.daemon.start()
        # As root it would be started so anyway; then all are asked the same.
        settings = {"primaryMode": "normal"}
        cls.daemon.request("PUT", "/api/settings", settings).data()

    def session(
        self, mode: str = "primary", scenario: MockScenario | None = None, **fields: Any
    ) -> PlayedSession:
        session = PlayedSession(self.daemon, mode, scenario or MockScenario(), **fields)
        self.addCleanup(session.end)
        return session

    def together(self, walks: Mapping[str, Callable[[], object]]) -> None:
        """Take several walks at once, for most of each is waiting; all failures are told."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            taken = {name: pool.submit(walk) for name, walk in walks.items()}
        failed = {name: each.exception() for name, each in taken.items() if each.exception()}
        told = "\n\n".join(f"{name}: {error}" for name, error in failed.items())
        self.assertFalse(failed, f"{', '.join(failed)}\n{told}")


class OpeningTests(LayoutCase):
    """What the primary CLI asks before its composer is there."""

    def check(self, reason: str, keys: tuple[str, ...], **how: Any) -> None:
        """The reason names the dialog, a prompt waits, the keys answer it, the prompt goes on."""
        session = self.session(**how)
        session.reason(reason)
        if keys:
            session.press(*keys)
        found = session.prompt("SAY: up", wait="stop")
        self.assertEqual("stop", found["wait"]["signal"])
        self.assertEqual(["SAY: up"], [turn.prompt for turn in session.turns()])

    def trusted(self, layout: str) -> None:
        """That dialog is answered by the service."""
        session = self.session(scenario=MockScenario(trust_layout=layout))
        self.assertEqual("stop", session.prompt("SAY: up", wait="stop")["wait"]["signal"])

    def test_every_opening_dialog_is_recognized(self) -> None:
        bypass = {
            "params": {"permissionMode": "bypassPermissions"},
            "envOverrides": {"IS_SANDBOX": "1"},
        }
        key = {"envOverrides": {"ANTHROPIC_API_KEY": "sk-ant-stub-0123456789abcdef"}}
        quick = MockScenario(trust=False)
        servers = MockScenario(servers=("forms",))
        check = self.check
        self.together(
            {
                "trust": partial(self.trusted, "numbered"),
                "trust, reversed": partial(self.trusted, "reversed"),
                "key": partial(check, "api-key dialog: ", ("Up", "Enter"), scenario=quick, **key),
                "server": partial(check, "mcp dialog: ", ("Enter",), scenario=servers),
                "bypass": partial(
                    check, "bypass dialog: ", ("Down", "Enter"), scenario=quick, **bypass
                ),
            }
        )


@frozen(kw_only=True)
class DialogExpectation:
    """One dialog of a turn and one answer to it.

    @ivar before: files made first, by name.
    @ivar tool: the item's tool.
    @ivar answers: one for each dialog or page in turn.
    @ivar made: files and their text afterwards; C{None}: it must not exist.
    @ivar shows: words on the screen afterwards.
    """

    name: str
    prompt: str
    kind: str = "permission"
    tool: str = "Bash"
    before: dict[str, str] = field(factory=dict)
    answers: tuple[dict[str, Any], ...]
    made: dict[str, str | None] = field(factory=dict)
    shows: str = ""


APPROVE, DENY = {"action": "approve"}, {"action": "deny"}
EDIT = 'TOOL: Edit {"file_path": "old.txt", "old_string": "hello", "new_string": "goodbye"}'
FETCH = 'TOOL: WebFetch {"url": "https://example.org/x", "prompt": "read"}'
FORM = 'TOOL: mcp__forms__ask_user {"q": 1}'
CLOSED = "Done with the tool."


def option(number: int) -> dict[str, Any]:
    """Pick one."""
    return {"action": "option", "option": number}


def ticks(*numbers: int) -> dict[str, Any]:
    """Tick some."""
    return {"action": "options", "options": list(numbers)}


TURNS = (
    DialogExpectation(name="command", prompt="RUN: touch a", answers=(APPROVE,), made={"a": ""}),
    DialogExpectation(
        name="command denied", prompt="RUN: touch a", answers=(DENY,), made={"a": None}
    ),
    DialogExpectation(
        name="command refused", prompt="RUN: touch a", answers=(option(3),), made={"a": None}
    ),
    DialogExpectation(
        name="command always", prompt="RUN: touch a", answers=(option(2),), made={"a": ""}
    ),
    DialogExpectation(
        name="write", prompt="WRITE: a", tool="Write", answers=(APPROVE,), made={"a": "hello\n"}
    ),
    DialogExpectation(
        name="write refused",
        prompt="WRITE: a",
        tool="Write",
        answers=(option(3),),
        made={"a": None},
        shows="User rejected write to a",
    ),
    DialogExpectation(
        name="edit",
        prompt=EDIT,
        tool="Edit",
        before={"old.txt": "hello\n"},
        answers=(APPROVE,),
        made={"old.txt": "goodbye\n"},
    ),
    DialogExpectation(
        name="edit denied",
        prompt=EDIT,
        tool="Edit",
        before={"old.txt": "hello\n"},
        answers=(DENY,),
        made={"old.txt": "hello\n"},
        shows="User rejected update to old.txt",
    ),
    DialogExpectation(
        name="fetch", prompt=FETCH, tool="WebFetch", answers=(option(2),), shows="200 OK"
    ),
    DialogExpectation(
        name="plan", prompt="PLAN:", tool="ExitPlanMode", answers=(APPROVE,), shows=CLOSED
    ),
    DialogExpectation(
        name="plan by hand", prompt="PLAN:", tool="ExitPlanMode", answers=(option(2),)
    ),
    DialogExpectation(
        name="plan denied",
        prompt="PLAN:",
        tool="ExitPlanMode",
        answers=(DENY,),
        shows="User rejected Claude's plan",
    ),
    DialogExpectation(
        name="plan mode left",
        prompt="TOOL: ExitPlanMode {}",
        tool="ExitPlanMode",
        answers=(option(1),),
        shows=CLOSED,
    ),
    DialogExpectation(
        name="question",
        prompt="ASK:",
        kind="question",
        tool="AskUserQuestion",
        answers=(option(2),),
        shows="→ Move to 9090",
    ),
    DialogExpectation(
        name="question in own words",
        prompt="ASK:",
        kind="question",
        tool="AskUserQuestion",
        answers=({"action": "text", "text": "port seven"},),
        shows="→ port seven",
    ),
    DialogExpectation(
        name="question declined",
        prompt="ASK:",
        kind="question",
        tool="AskUserQuestion",
        answers=(DENY,),
        shows="User declined to answer",
    ),
    DialogExpectation(
        name="question with ticks",
        prompt="ASKM:",
        kind="question",
        tool="AskUserQuestion",
        answers=(ticks(1, 3),),
        shows="→ Types, Unit tests",
    ),
    DialogExpectation(
        name="several questions",
        prompt="ASK3:",
        kind="question",
        tool="AskUserQuestion",
        answers=(option(3), ticks(2), option(1), option(1)),
        shows="→ SQLite",
    ),
)


class TurnDialogTests(LayoutCase):
    """The dialogs of a turn of the primary CLI."""

    def test_every_dialog_of_a_turn_is_recognized(self) -> None:
        self.together({each.name: partial(self.check, each) for each in TURNS})

    def check(self, asked: DialogExpectation) -> None:
        session = self.session(scenario=MockScenario(trust=False))
        for name, text in asked.before.items():
            session.made(name).write_text(text, "utf-8")
        found = session.prompt(asked.prompt, wait="blocked,stop")
        self.assertEqual("blocked", found["wait"]["signal"], asked.name)
        item = session.item()
        self.assertEqual((asked.kind, asked.tool), (item["kind"], item["toolName"]), asked.name)
        self.assertIn("answer it first", session.refused("SAY: 2 more things"), asked.name)
        for how in asked.answers:
            item = self.page(session, asked)
            session.answer(item, **how)
        session.rests()
        for name, wanted in asked.made.items():
            path = session.made(name)
            self.assertEqual(wanted, path.read_text("utf-8") if path.exists() else None, asked.name)
        # The hook that ends a turn may be here before the screen is.
        session.until(f"{asked.name}: {asked.shows}", lambda: asked.shows in session.screen())
        self.assertEqual(1, len(session.turns()), asked.name)

    def page(self, session: PlayedSession, asked: DialogExpectation) -> dict[str, Any]:
        """The item, once it shows the options of the screen, which is read at another moment."""

        def shown() -> dict[str, Any] | None:
            item = session.item()
            labels = [each["label"] for each in item["options"]]
            return item if labels == session.options() else None

        found: dict[str, Any] = session.until(f"{asked.name}: the options of the screen", shown)
        return found


class PersonalDialogTests(LayoutCase):
    """Prompts, forms, and dialogs that are the person's own."""

    def test_prompts_forms_and_dialogs_of_the_user_are_handled(self) -> None:
        self.together(
            {
                "two lines": self.two_lines_are_one_prompt,
                "form": self.a_form_is_filled_in_at_the_terminal,
                "limit": self.a_limit_and_its_dialog,
                "menus": self.menus_of_the_user,
                "rewind": self.rewound,
                "terminal": self.answered_in_the_terminal,
            }
        )

    def two_lines_are_one_prompt(self) -> None:
        session = self.session()
        session.prompt("first line\nSAY: both", wait="stop")
        self.assertEqual(["first line\nSAY: both"], [turn.prompt for turn in session.turns()])

    def a_form_is_filled_in_at_the_terminal(self) -> None:
        session = self.session(scenario=MockScenario(trust=False))
        session.prompt(FORM, wait="blocked")
        session.answer(session.item(), action="approve")
        session.until("the form", lambda: "requests your input" in session.screen())
        session.until("its item", lambda: [i for i in session.items() if i["kind"] == "question"])
        session.call("POST", f"{session.path}/input", input="Ada", useMux=False)
        session.until("the name", lambda: "Name: Ada" in session.screen())
        session.press("Down", "Down")
        session.call("POST", f"{session.path}/send-key", key="Enter")
        session.rests()
        session.until("its answer", lambda: "accept" in session.screen())

    def a_limit_and_its_dialog(self) -> None:
        """The dialog that opens by itself is a question; the session is paused by the limit."""
        token = {"CLAUDE_CODE_OAUTH_TOKEN": "stub"}
        session = self.session(scenario=MockScenario(trust=False), envOverrides=token)
        session.prompt("LIMIT: 3600")
        session.until("the limit", lambda: session.record()["limitPaused"])
        session.reason("notice dialog: What do you want to do?")
        self.closed_by_denying(session, "What do you want to do?")

    def menus_of_the_user(self) -> None:
        """They swallow keys: whoever opened one is told, and anybody can close it."""
        session = self.session(scenario=MockScenario(trust=False))
        session.prompt("SAY: something", wait="stop")
        session.prompt("/model")
        session.reason("notice dialog: Select model")
        self.closed_by_denying(session, "Select model")

    def closed_by_denying(self, session: PlayedSession, question: str) -> None:
        item = session.item()
        self.assertEqual(("question", question), (item["kind"], item["message"]))
        session.answer(item, action="deny")
        session.reason("composer on the screen")
        session.until("no item", lambda: not session.items())

    def rewound(self) -> None:
        """What one can go back to is shown by two Escapes, and left by a third."""
        # However long this machine takes from one to the next.
        session = self.session(scenario=MockScenario(trust=False, double=PATIENCE))
        session.prompt("SAY: before", wait="stop")
        for _ in range(2):
            session.call("POST", f"{session.path}/send-key", key="Escape")
        session.reason("notice dialog")
        self.assertIn("Restore the code", session.screen())
        self.assertEqual("question", session.item()["kind"])
        session.call("POST", f"{session.path}/send-key", key="Escape")
        session.reason("composer on the screen")
        session.prompt("SAY: after", wait="stop")
        self.assertEqual(["SAY: before", "SAY: after"], [turn.prompt for turn in session.turns()])

    def answered_in_the_terminal(self) -> None:
        session = self.session(scenario=MockScenario(trust=False))
        session.prompt("RUN: touch a", wait="blocked")
        item = session.item()
        session.call("POST", f"{session.path}/send-key", key="Enter")
        session.until("the file", session.made("a").exists)
        session.rests()
        path = f"/api/approvals/{item['id']}/answer"
        late = self.daemon.request("POST", path, {"action": "approve"})
        self.assertEqual((409, "CONFLICT"), (late.status, late.json()["errorCode"]))


@frozen(kw_only=True)
class ExternalClientRecipe:
    """One of the others: its trust keys, and the keys that refuse a command."""

    mode: str
    trust: tuple[str, ...] = ()
    asks: bool = True
    refuse: tuple[str, ...] = ("Escape",)
    writes: bool = False


OTHERS = (
    ExternalClientRecipe(mode="codex", trust=("Down", "Up", "Enter")),
    ExternalClientRecipe(mode="gemini", trust=("Down", "Up", "Enter"), writes=True),
    ExternalClientRecipe(mode="opencode", refuse=("Right", "Right", "Enter")),
    ExternalClientRecipe(mode="pi", asks=False),
)


@pytest.mark.long
@pytest.mark.extended
class ExternalClientTests(LayoutCase):
    """The external CLIs, without hooks: status, items of the inbox and keys."""

    def check(self, client: ExternalClientRecipe) -> None:
        session = self.session(mode=client.mode)
        if client.trust:
            session.reason("trust dialog: ")
            session.press(*client.trust)
        session.prompt("HOLD: door", wait="working")
        session.release("door")
        session.reason("composer on the screen")
        session.prompt("RUN: touch a")
        if client.asks:
            self.allowed_and_refused(session, client)
        session.until("the file", session.made("a").exists)
        if client.writes:
            session.prompt("WRITE: b")
            session.reason("permission dialog: Apply this change?")
            session.press("Enter")
            session.until("the file", session.made("b").exists)
        session.reason("composer on the screen")
        session.prompt("/quit")
        session.until("the exit", lambda: session.record()["pid"] is None)
        self.assertEqual(0, session.record()["paneExit"]["status"])

    def allowed_and_refused(self, session: PlayedSession, client: ExternalClientRecipe) -> None:
        self.assertEqual("busy", session.reason("permission dialog: ")["status"])
        self.assertIn("answer it first", session.refused("SAY: not so"))
        item = session.item()
        self.assertEqual("permission", item["kind"])
        session.answer(item, action="approve")
        session.until("the file", session.made("a").exists)
        session.reason("composer on the screen")
        session.prompt("RUN: touch c")
        session.reason("permission dialog: ")
        session.press(*client.refuse)
        session.reason("composer on the screen")
        self.assertFalse(session.made("c").exists())
        self.assertEqual([], session.items())

    def test_every_external_client_reports_status_and_items(self) -> None:
        self.together({each.mode: partial(self.check, each) for each in OTHERS})


@pytest.mark.extended
class CrashDuringTurnTests(SynchronousTestCase):
    """The service is killed and started again; on a daemon of its own."""

    def setUp(self) -> None:
        self.daemon = played_daemon()
        self.addCleanup(self.daemon.close)
        # Hooks of agents that run go to the address that they were started with.
        held = HeldPort()
        self.addCleanup(held.close)
        self.listen = (held.endpoint,)
        self.daemon.start(listen=self.listen)
        self.daemon.request("PUT", "/api/settings", {"primaryMode": "normal"}).data()

    def test_turns_and_dialogs_continue_after_a_crash(self) -> None:
        """One session in a turn, one at a dialog, one whose turn ends while nobody looks."""
        quick = MockScenario(trust=False)
        turn, asked, alone = (PlayedSession(self.daemon, "primary", quick) for _ in range(3))
        turn.prompt("HOLD: door", wait="working")
        alone.prompt("HOLD: door", wait="working")
        asked.prompt("RUN: touch a", wait="blocked")
        before = asked.item()
        self.daemon.kill()
        alone.release("door")
        self.daemon.start(listen=self.listen)
        with EventLog(self.daemon.url) as events:
            self.assertEqual("busy", turn.record()["status"])
            turn.release("door")
            events.wait(turn.id, "session:stop")
            alone.rests()
            item = asked.item()
            self.assertEqual((before["id"], before["frame"]), (item["id"], item["frame"]))
            asked.answer(item, action="approve")
            asked.until("the file", asked.made("a").exists)
            for session in (turn, alone, asked):
                self.assertEqual("idle", session.rests()["status"])
                self.assertEqual(1, len(session.turns()))
