"""opencode, Codex, Gemini CLI or pi, the real ones, in the real daemon, driven over HTTP."""

from __future__ import annotations

import json
import os
import signal
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from attrs import field, frozen
from twisted.trial.unittest import SkipTest, SynchronousTestCase

from tests.agents.cli_cache import CliUnavailable, install_cli
from tests.agents.contract_harness import skip_reason
from tests.agents.harness import AgentEnvironmentHarness
from tests.agents.misleading_prompts import LISTED, QUOTED
from tests.agents.netns import loopback_only
from tests.agents.recipes import RECIPES
from tests.agents.stub.record import digest
from tests.integration.events import EventLog
from tests.integration.harness import PATIENCE, DaemonHarness, name_pane_variables, wait_until_gone
from tests.waiting import SettledCondition, wait_until

AT_WORK = ("title: ", "working line: ", "status file: busy")
AT_REST = ("composer on the screen", "status file: idle")
"""How the reasons begin: of the screen, or of the file that pi writes."""
SHORT = 3
"""Turns that are over at once."""
CODEX_SAID = [
    ("user", "HOLD: door"),
    ("assistant", "holding until released"),
    *(
        (role, f"{say}quick {number}")
        for number in range(SHORT)
        for role, say in (("user", "SAY: "), ("assistant", ""))
    ),
    ("user", QUOTED),
    ("assistant", "quoted"),
    ("user", LISTED),
    ("assistant", "listed"),
    ("user", "RUN: touch made.txt"),
    ("assistant", "Done with the tool."),
    ("user", "RUN: touch other.txt"),
]
LISTED_TODO = "Paint the door"
STILL = 0.3
"""Seconds without another drawing after which a client has done what a key asked for."""

WAIT = 60_000
"""Milliseconds for a signal: a busy machine takes half a minute to begin a first turn."""

HELD = 3 * PATIENCE
"""Seconds for which the service may hold a prompt, and then wait for what comes of it."""


@frozen(kw_only=True)
class FamilyManner:
    """What is different about one client.

    @ivar params: launch parameters of the session.
    @ivar pane_env: variables that reach the pane by the service's own environment.
    @ivar trust: the keys that answer its first dialog; empty where it asks nothing.
    @ivar asks: whether it asks before a command.
    @ivar refuse: the keys that refuse one.
    @ivar leave: the command that ends it.
    @ivar modes: permission modes that it is told one after the other, the last one the usual.
    @ivar untold: what it cannot be told while it runs.
    @ivar lists: the tool of its to-do list, with the names of the list and of an entry's words.
    @ivar asks_to_list: whether it asks before that tool, too.
    """

    params: Mapping[str, str] = field(factory=dict)
    pane_env: tuple[str, ...] = ()
    trust: tuple[str, ...] = ()
    asks: bool = True
    refuse: tuple[str, ...] = ("Escape",)
    leave: str = "/quit"
    modes: tuple[str, ...] = ()
    untold: tuple[str, ...] = ()
    lists: tuple[str, str, str] | None = None
    asks_to_list: bool = False


MANNERS = {
    "codex": FamilyManner(
        trust=("Down", "Up", "Enter"),
        pane_env=("STUB_KEY",),
        lists=("update_plan", "plan", "step"),
    ),
    "gemini": FamilyManner(
        # Its newer models are given no tool for a list.
        params={"model": "gemini-2.5-pro"},
        trust=("Down", "Up", "Enter"),
        lists=("write_todos", "todos", "description"),
        asks_to_list=True,
    ),
    "opencode": FamilyManner(
        refuse=("Right", "Right", "Enter"),
        leave="/exit",
        modes=("plan", "build"),
        untold=("model", "effort"),
        lists=("todowrite", "todos", "content"),
    ),
    "qwen": FamilyManner(params={"approvalMode": "default"}, trust=("Down", "Up", "Enter")),
    "copilot": FamilyManner(
        # The second option: the first one trusts the folder until it ends.
        trust=("Down", "Enter"),
        leave="/exit",
    ),
    "pi": FamilyManner(params={"provider": "stub", "model": "stub-model"}, asks=False),
}


class FamilyCase(SynchronousTestCase):
    """One daemon, one folder that nobody trusts yet, one session of the mode.

    @ivar installed: the client's name in the cache, where that is not its own.
    """

    installed: str | None = None

    def begin(self, cli: str) -> None:
        try:
            binary = install_cli(self.installed or cli, os.environ).binary
        except CliUnavailable as error:
            reason = skip_reason(error, cli)
            raise SkipTest(reason) if reason else error from error
        held = ExitStack()
        self.addCleanup(held.close)
        self.manner = MANNERS[cli]
        isolated = held.enter_context(loopback_only())
        folder = held.enter_context(
            tempfile.TemporaryDirectory(prefix="tw-", ignore_cleanup_errors=True)
        )
        self.world = held.enter_context(
            AgentEnvironmentHarness(cli, Path(folder), isolated=isolated)
        )
        self.world.make_git()
        self.daemon = DaemonHarness(PATH=f"{binary.parent}:{os.environ['PATH']}")
        held.callback(self.daemon.close)
        self.daemon.home = self.world.place.home
        launch = RECIPES[cli](self.world.place, trusted=False)
        self.start(cli, dict(launch.env))
        self.events = held.enter_context(EventLog(self.daemon.url))
        self.pool = held.enter_context(ThreadPoolExecutor(1))

    def start(self, cli: str, env: dict[str, str]) -> None:
        own = {name: env.pop(name) for name in self.manner.pane_env}
        self.daemon.environment |= {**own, "SERVICE_PANE_ENV": name_pane_variables(*own)}
        self.daemon.start()
        created = self.call(
            "POST",
            "/api/sessions",
            mode=cli,
            workingDir=str(self.world.place.work),
            envOverrides=env,
            params=dict(self.manner.params),
            start=True,
        )
        self.session: str = created["session"]["id"]
        self.path = f"/api/sessions/{self.session}"

    # -- what the tests say

    def call(self, method: str, path: str, **body: Any) -> Any:
        return self.daemon.request(method, path, body or None, patience=HELD).data()

    def record(self) -> dict[str, Any]:
        found: dict[str, Any] = self.call("GET", self.path)
        return found

    def prompt(self, text: str, **how: Any) -> dict[str, Any]:
        found: dict[str, Any] = self.call("POST", f"{self.path}/input", input=f"{text}\r", **how)
        return found

    def keys(self, *keys: str) -> None:
        """Press keys one by one, each behind what the one before it drew.

        Two that are read at once are taken for something else: Gemini CLI takes an Enter that
        comes together with a key for a part of a paste.
        """
        for key in keys:
            drawn = SettledCondition(self.screen, STILL, unlike=self.screen())
            self.call("POST", f"{self.path}/send-key", key=key)
            self.until(f"an effect of {key}", drawn)

    def wait(self, signal_: str) -> None:
        found = self.call("GET", f"{self.path}/wait?until={signal_}&timeout={WAIT}")
        self.assertEqual(signal_, found["wait"]["signal"], self.screen())

    def until(self, what: str, look: Callable[[], Any]) -> Any:
        return wait_until(
            what, look, told=lambda: f"{self.record()['statusReason']}\n{self.screen()}"
        )

    def reason(self, *begins: str) -> dict[str, Any]:
        """The record, once its status has such a reason."""

        def look() -> dict[str, Any] | None:
            record = self.record()
            return record if str(record["statusReason"]).startswith(begins) else None

        found: dict[str, Any] = self.until(f"a reason {begins}", look)
        return found

    def screen(self) -> str:
        return str(self.call("GET", f"{self.path}/terminal")["terminalBuffer"])

    def made(self, name: str) -> bool:
        return (self.world.place.work / name).exists()

    # -- the walk

    def walk(self, cli: str) -> None:
        self.begin(cli)
        self.first_turn()
        self.short_turns()
        self.its_modes()
        self.prompts_like_dialogs()
        self.a_command_allowed()
        if self.manner.asks:
            self.a_command_refused()
        self.what_was_said(cli)
        self.its_items()
        self.its_list()
        self.the_exit()
        self.it_goes_on()
        self.a_crash()
        self.it_begins_anew()

    def first_turn(self) -> None:
        """A prompt sent at once waits for the composer, and never answers the first dialog."""
        sent = self.pool.submit(self.prompt, "HOLD: door", wait="working", waitTimeout=WAIT)
        if self.manner.trust:
            self.assertEqual("idle", self.reason("trust dialog: ")["status"])
            self.keys(*self.manner.trust[:-1])
            if sent.done():
                self.fail(f"the prompt did not wait: {sent.result()}\n{self.screen()}")
            self.reason("trust dialog: ")
            self.keys(self.manner.trust[-1])
        found = sent.result(HELD)
        self.assertTrue(found["delivered"], self.screen())
        # On a busy machine opencode takes longer over it than a wait may last.
        self.assertIn(found["wait"]["signal"], ("working", None))
        self.assertEqual("busy", self.reason(*AT_WORK)["status"])
        self.world.stub.release("door")
        path = f"{self.path}/wait-output?match=until+released&from=buffer&timeout={WAIT}"
        self.assertTrue(self.call("GET", path)["wait"]["matched"], self.screen())
        self.assertEqual("idle", self.reason(*AT_REST)["status"])
        told = ["session:working", "session:idle"]
        self.until(
            "both signals",
            lambda: [each.name for each in self.events.of(self.session, *told)][-2:] == told,
        )
        self.assertEqual(["HOLD: door"], [turn.prompt for turn in self.world.stub.turns()])

    def short_turns(self) -> None:
        """Over before anybody looks, at the model's speed: each is told."""
        for number in range(SHORT):
            found = self.prompt(f"SAY: quick {number}", wait="idle", waitTimeout=WAIT)
            self.assertEqual("idle", found["wait"]["signal"], self.record()["statusReason"])
            turns = [turn for turn in self.world.stub.turns() if turn.prompt.startswith("SAY: q")]
            self.assertEqual(number + 1, len(turns))
            self.assertIsNotNone(turns[-1].ended)

    def its_modes(self) -> None:
        """Told to a running agent, and read back from its screen."""
        for mode in self.manner.modes:
            body = {"permissionMode": mode}
            path = f"{self.path}/permission-mode"
            answer = self.daemon.request("PUT", path, body, patience=HELD)
            self.assertEqual((200, body), (answer.status, answer.json().get("data")))
        for name in self.manner.untold:
            answer = self.daemon.request("PUT", f"{self.path}/{name}", {name: "high"})
            self.assertEqual(400, answer.status)

    def prompts_like_dialogs(self) -> None:
        for text in (QUOTED, LISTED):
            found = self.prompt(text, wait="idle", waitTimeout=WAIT)
            self.assertTrue(found["delivered"])
            self.until("its turn", partial(self.answered, text))
            self.reason(*AT_REST)

    def answered(self, text: str) -> bool:
        """Whether the newest turn is that of the prompt, white space aside, and over."""
        newest = self.world.stub.turns()[-1]
        return newest.ended is not None and newest.prompt.split() == text.split()

    def a_command_allowed(self) -> None:
        self.prompt("RUN: touch made.txt")
        if self.manner.asks:
            self.assertEqual("busy", self.reason("permission dialog: ")["status"])
            self.assertFalse(self.made("made.txt"))
            self.keys("Enter")
        self.until("the file", lambda: self.made("made.txt"))
        self.until("the closing words", lambda: "Done with the tool" in self.screen())
        self.reason(*AT_REST)

    def a_command_refused(self) -> None:
        self.prompt("RUN: touch other.txt")
        self.reason("permission dialog: ")
        self.keys(*self.manner.refuse)
        self.assertEqual("idle", self.reason(*AT_REST)["status"])
        self.assertFalse(self.made("other.txt"))

    def what_was_said(self, cli: str) -> None:
        """Its own record tells the answer, the tokens and the conversation."""
        self.until("its conversation", lambda: self.record()["conversationIds"])
        # Written and read behind what the screen shows.
        wanted = [
            ("user", "HOLD: door"),
            ("assistant", "holding until released"),
            ("assistant", f"quick {SHORT - 1}"),
        ]
        self.until("what was said", lambda: set(wanted) <= set(self.words()))
        if cli == "codex":
            self.until("all of it", lambda: len(self.words()) >= len(CODEX_SAID))
            self.assertEqual(CODEX_SAID, self.words())
        self.until("its tokens", lambda: self.record()["tokens"]["input"] > 0)
        if cli == "pi":
            self.until("its context", lambda: self.record().get("contextUsedPercentage"))
        self.until("its name", lambda: self.record()["nameSource"] == "auto")
        record = self.record()
        (self.conversation,) = record["conversationIds"]
        self.assertEqual("HOLD: door", record["name"])
        past = self.call("GET", "/api/history/sessions")["sessions"]
        mine = [each for each in past if each["id"] == self.conversation]
        self.assertEqual(
            [(cli, str(self.world.place.work))],
            [(each["mode"], each.get("workingDir")) for each in mine],
        )

    def its_items(self) -> None:
        """Its conversation has the prompts, each once, and the command with its end."""

        def look() -> bool:
            items = self.call("GET", f"{self.path}/conversation?limit=500")["items"]
            prompts = [each["text"].strip() for each in items if each["role"] == "user"]
            ran = [
                each["tool"]
                for each in items
                if "made.txt" in each.get("tool", {}).get("title", "")
            ]
            once = all(prompts.count(f"SAY: quick {number}") == 1 for number in range(SHORT))
            return once and [each["status"] for each in ran] == ["done"]

        self.until("its items", look)

    def words(self) -> list[tuple[str, str]]:
        """What its own record tells of the conversation by now."""
        said = self.call("GET", f"{self.path}/last-response?context=full")
        return [(each["role"], each["text"]) for each in said["messages"]]

    def responds(self, text: str) -> None:
        """The answer comes into its own record, which is written behind the screen."""
        path = f"{self.path}/last-response"
        self.until(f"the answer {text}", lambda: self.call("GET", path)["text"] == text)

    def its_list(self) -> None:
        """What its own tool was told, as the record has it."""
        self.assertEqual([], self.listed())
        if self.manner.lists is None:
            return
        tool, many, words = self.manner.lists
        entry = {words: LISTED_TODO, "status": "in_progress", "priority": "low"}
        if tool != "todowrite":
            del entry["priority"]
        self.prompt(f"TOOL: {tool} {json.dumps({many: [entry]})}")
        if self.manner.asks_to_list:
            self.reason("permission dialog: ")
            self.keys("Enter")
        self.until("its list", lambda: self.listed() == [LISTED_TODO])
        self.assertEqual(LISTED_TODO, self.record()["currentTask"])
        self.reason(*AT_REST)

    def listed(self) -> list[str]:
        return [each["text"] for each in self.record().get("todos", [])]

    def it_goes_on(self) -> None:
        """The agent knows what was said before, and it is the same conversation."""
        self.call("POST", f"{self.path}/start")
        # Gemini CLI draws a composer before it takes the conversation up, and drops what is typed.
        self.until("what was said before", lambda: "Done with the tool" in self.screen())
        self.reason(*AT_REST)
        found = self.prompt("SAY: again", wait="idle", waitTimeout=WAIT)
        self.assertEqual("idle", found["wait"]["signal"], self.screen())
        self.until("its turn", partial(self.answered, "SAY: again"))
        request = next(
            each
            for each in reversed(self.world.stub.requests())
            if each.prompt.startswith("SAY: again")
        )
        self.assertIn(digest("SAY: quick 0"), request.said)
        self.responds("again")
        self.assertEqual([self.conversation], self.record()["conversationIds"])
        left = [] if self.manner.lists is None else [LISTED_TODO]
        self.until("the list of before", lambda: self.listed() == left)

    def it_begins_anew(self) -> None:
        self.call("POST", f"{self.path}/start", fresh=True)
        self.reason(*AT_REST)
        found = self.prompt("SAY: anew", wait="idle", waitTimeout=WAIT)
        self.assertEqual("idle", found["wait"]["signal"], self.screen())
        self.until("another conversation", lambda: len(self.record()["conversationIds"]) == 2)
        self.responds("anew")
        self.assertNotIn(("user", "HOLD: door"), self.words())
        self.assertEqual([], self.listed())

    def the_exit(self) -> None:
        self.prompt(self.manner.leave)
        self.wait("exit")
        self.assertEqual(0, self.events.wait(self.session, "session:exit")["status"])
        record = self.record()
        self.assertEqual((None, 0), (record["pid"], record["paneExit"]["status"]))
        self.assertEqual([], self.listed())

    def a_crash(self) -> None:
        record = self.record()
        os.kill(record["pid"], signal.SIGKILL)
        wait_until_gone(record["pid"])
        self.wait("exit")
        record = self.record()
        self.assertEqual((None, "SIGKILL"), (record["pid"], record["paneExit"]["signal"]))
        # The answer may be here before the event is.
        self.until("both ends", lambda: len(self.events.of(self.session, "session:exit")) == 2)
