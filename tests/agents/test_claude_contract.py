"""One suite on the real Claude Code and on its mock: screens, keys, delivery, hooks, files."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from tests.agents.cli_cache import CliUnavailable
from tests.agents.contract_harness import (
    AgentHarness,
    PlayedAgentHarness,
    RealAgentHarness,
    skip_reason,
)
from tests.agents.panes import POLL, AgentPane, PaneScreen
from tests.agents.recipes import CLAUDE_READY
from tests.agents.stub.record import deliveries
from tests.waiting import PATIENCE, assert_stays

if TYPE_CHECKING:
    Case = SynchronousTestCase
else:
    Case = object  # the suite itself must not be collected

IDLE, BUSY = "^✳ Claude Code", "^[⠂⠐] Claude Code"
SETTLE = 0.3
"""Seconds after the composer's first row until Enter is safe."""

LONG = int(2 * PATIENCE)
"""Seconds of an answer that a test ends before it is over, however late it comes to do so."""

REACTS = 5.0
"""Seconds in which a client has done what two keys asked for, if it took them for two."""
HOOK = "import sys, os; open(os.environ['HOOK_LOG'], 'a').write(sys.stdin.read().strip() + '\\n')"
EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "Notification",
    "Stop",
    "StopFailure",
    "SessionEnd",
)


def hook_settings() -> dict[str, Any]:
    """Settings whose hooks append their payload to a file."""
    # Those of a session's end would have a second and a half.
    command = f'{sys.executable} -c "{HOOK}"'
    hook = {"type": "command", "command": command, "timeout": PATIENCE}
    return {"hooks": {event: [{"hooks": [hook]}] for event in EVENTS}}


def whole_rows(path: Path) -> list[dict[str, Any]]:
    """The JSON lines of a file; the last is left out while it is being written."""
    data = path.read_bytes() if path.exists() else b""
    return [json.loads(row) for row in data.rpartition(b"\n")[0].split(b"\n") if row]


class ClaudeContract(Case):
    """What both must do; a subclass makes the subject."""

    subject: AgentHarness

    def ready(self, *arguments: str, **options: Any) -> AgentPane:
        """A pane whose composer takes input."""
        pane = self.subject.start(*arguments, **options)
        pane.wait(CLAUDE_READY)
        pane.settle(SETTLE)
        return pane

    def answered(self, pane: AgentPane, prompt: str) -> PaneScreen:
        """Submit and wait until the turn is over."""
        pane.submit(prompt)
        pane.wait(r"^✻ \S+ for \d+s")
        return pane.wait_title(IDLE)

    def until(self, holds: Callable[[], object], what: str, timeout: float = PATIENCE) -> None:
        """Poll for something outside the screen."""
        end = time.monotonic() + timeout
        while not holds():
            if time.monotonic() > end:
                raise AssertionError(f"no {what} in {timeout} s")
            time.sleep(0.05)

    def twice(self, pane: AgentPane, key: str, over: Callable[[PaneScreen], bool]) -> None:
        """Press a key twice: the second has 0.8 s after the first, and must not be read with it.

        tmux keeps that time better than this process; where the client was kept from reading
        meanwhile, it is done once more.
        """

        def pressed() -> bool:
            pane.tmux("send-keys", key, ";", "run-shell", "sleep 0.2", ";", "send-keys", key)
            end = time.monotonic() + REACTS
            while not (done := over(pane.look())) and time.monotonic() < end:
                pane.settle(POLL)
            return done

        self.until(pressed, f"effect of {key} twice")

    # --- trust

    def test_trust_dialog_cursor_moves_and_wraps(self) -> None:
        pane = self.subject.start(trusted=False)
        pane.wait("^ ❯ 1. Yes, I trust this folder")
        pane.keys("Down")
        pane.wait("^ ❯ 2. No, exit")
        pane.keys("Down")
        pane.wait("^ ❯ 1. Yes")
        pane.keys("Enter")
        screen = pane.wait(CLAUDE_READY)
        self.assertFalse(screen.alternate)

    def test_cursor_and_enter_in_one_write_choose_the_previous_option(self) -> None:
        pane = self.subject.start(trusted=False)
        pane.wait("^ ❯ 1. Yes")
        pane.keys("Down", "Enter")
        pane.wait(CLAUDE_READY)

    def test_trust_dialog_answered_no_exits_with_status_1(self) -> None:
        pane = self.subject.start(trusted=False)
        pane.wait("^ ❯ 1. Yes")
        pane.keys("2")
        self.assertEqual(1, pane.wait_dead().status)

    # --- prompts

    def test_pasted_prompt_arrives_once_and_whole(self) -> None:
        pane = self.ready()
        text = "SAY: first line\nsecond line with ünïcode"
        self.answered(pane, text)
        self.assertEqual([text], [turn.prompt for turn in self.subject.turns()])

    def test_long_pastes_are_shown_as_placeholders_and_sent_whole(self) -> None:
        pane = self.ready()
        text = "\n".join(f"row {number}" for number in range(5))
        pane.paste(text)
        pane.wait(r"^❯\xa0\[Pasted text #1 \+4 lines\]")
        pane.keys("Enter")
        pane.wait("You said: row 0")
        self.assertEqual(text, self.subject.turns()[0].prompt)

    def test_paste_of_three_lines_is_shown_inline(self) -> None:
        pane = self.ready()
        pane.paste("one\ntwo\nthree")
        pane.wait("^❯\xa0one$")
        pane.wait("^  three$")

    def test_prompt_while_busy_waits_for_the_end_of_the_turn(self) -> None:
        pane = self.ready()
        pane.submit("HOLD: door")
        pane.wait_title(BUSY)
        pane.wait("^●")
        pane.submit("SAY: second")
        pane.wait("Press up to edit queued messages")
        self.assertEqual(1, len(self.subject.turns()))
        self.subject.release("door")
        pane.wait("^● second")
        prompts = [turn.prompt for turn in self.subject.turns()]
        self.assertEqual(["HOLD: door", "SAY: second"], prompts)

    def test_queued_prompts_are_answered_together(self) -> None:
        pane = self.ready()
        pane.submit("HOLD: door")
        pane.wait("^●")
        for prompt in ("SAY: second", "SAY: third"):
            pane.submit(prompt)
            pane.wait(f"^  ❯ {prompt}")
        self.subject.release("door")
        pane.wait("^● third")
        prompts = [turn.prompt for turn in self.subject.turns()]
        self.assertEqual(["HOLD: door", "SAY: third"], prompts)
        for prompt in ("HOLD: door", "SAY: second", "SAY: third"):
            self.assertEqual(1, deliveries(self.subject.requests(), prompt))

    def test_end_marker_inside_a_paste_drops_the_text_before_it(self) -> None:
        pane = self.ready()
        raw = b"\x1b[200~SAY: before\x1b[201~after\x1b[201~"
        pane.keys("-H", *(f"{byte:02x}" for byte in raw))
        pane.wait("^❯\xa0after")

    def test_two_interrupts_end_the_client(self) -> None:
        pane = self.ready()
        self.answered(pane, "SAY: hello")
        pane.type("half a thought")
        pane.wait("half a thought")
        pane.keys("C-c")
        pane.wait_gone("half a thought")
        self.twice(pane, "C-c", lambda screen: screen.dead)
        self.assertEqual(0, pane.wait_dead().status)

    def test_escape_before_any_answer_gives_the_prompt_back(self) -> None:
        pane = self.ready()
        pane.submit(f"THINK: {LONG}")
        pane.wait_title(BUSY)
        self.until(self.subject.turns, "turn")
        pane.keys("Escape")
        pane.wait_title(IDLE)
        pane.wait(f"^❯\xa0THINK: {LONG}")

    def test_escape_in_an_answer_interrupts(self) -> None:
        pane = self.ready()
        pane.submit(f"SLOW: {LONG}")
        pane.wait("^●")
        pane.keys("Escape")
        pane.wait("⎿ \xa0Interrupted")
        pane.wait_title(IDLE)
        self.until(lambda: self.subject.turns()[0].outcome == "aborted", "aborted turn")

    def test_double_escape_clears_the_composer(self) -> None:
        pane = self.ready()
        pane.type("never mind")
        pane.wait("never mind")
        self.twice(pane, "Escape", lambda screen: "never mind" not in screen.text)

    # --- dialogs

    def test_permission_is_granted_by_its_digit(self) -> None:
        pane = self.ready()
        made = self.subject.world.place.work / "made"
        pane.submit("RUN: touch made")
        screen = pane.wait("^ ❯ 1. Yes")
        self.assertIn(" Do you want to proceed?", screen.rows)
        # The title is written apart from the screen.
        pane.wait_title(IDLE)
        pane.settle(SETTLE)
        pane.keys("1")
        pane.wait("Done with the tool")
        self.assertTrue(made.exists())

    def test_permission_is_refused_by_escape(self) -> None:
        pane = self.ready()
        pane.submit("RUN: touch made")
        pane.wait("^ ❯ 1. Yes")
        pane.settle(SETTLE)
        pane.keys("Escape")
        pane.wait("⎿ \xa0Interrupted")
        self.assertFalse((self.subject.world.place.work / "made").exists())

    def test_file_permission_approved_by_digit_writes_the_file(self) -> None:
        pane = self.ready()
        target = self.subject.world.place.work / "new.txt"
        pane.submit(f"WRITE: {target}")
        pane.wait("Do you want to create new.txt")
        pane.settle(SETTLE)
        pane.keys("1")
        pane.wait("Done with the tool")
        self.assertEqual("hello\n", target.read_text())

    def test_question_is_answered_by_its_digit(self) -> None:
        pane = self.ready()
        pane.submit("ASK:")
        pane.wait("Enter to select")
        pane.settle(SETTLE)
        pane.keys("2")
        pane.wait("→ Move to 9090")

    def test_question_is_answered_in_free_words(self) -> None:
        pane = self.ready()
        pane.submit("ASK:")
        pane.wait("Enter to select")
        pane.settle(SETTLE)
        pane.keys("4")
        pane.settle(SETTLE)
        pane.type("port 7")
        pane.wait("❯ 4. port 7")
        pane.keys("Enter")
        pane.wait("→ port 7")

    def test_several_questions_end_on_the_review_page(self) -> None:
        pane = self.ready()
        pane.submit("ASK3:")
        pane.wait("to navigate")
        for key, seen in (("2", "Which checks"), ("1", r"\[✔\] Types"), ("Right", "the records")):
            pane.settle(SETTLE)
            pane.keys(key)
            pane.wait(seen)
        pane.settle(SETTLE)
        pane.keys("1")
        pane.wait("Review your answers")
        pane.settle(SETTLE)
        pane.keys("Enter")
        screen = pane.wait("Done with the tool")
        self.assertIn("→ Types", screen.text)

    def test_declined_questions_return_to_the_prompt(self) -> None:
        pane = self.ready()
        pane.submit("ASK:")
        pane.wait("Enter to select")
        pane.settle(SETTLE)
        pane.keys("Escape")
        pane.wait("User declined to answer questions")
        pane.wait_title(IDLE)

    # --- errors, limits, commands

    def test_api_error_ends_the_turn(self) -> None:
        pane = self.ready()
        pane.submit("FAIL: 400")
        pane.wait("● API Error: 400")
        pane.wait_title(IDLE)

    def test_overload_error_is_retried_until_escape(self) -> None:
        pane = self.ready()
        pane.submit("FAIL: 529")
        pane.wait(r"Retrying in \d+s · attempt \d+/10")
        # The title is written apart from the screen.
        screen = pane.wait_title(BUSY)
        self.assertRegex(screen.text, CLAUDE_READY.replace("^", "(?m)^"))

    def test_usage_limit_opens_a_dialog(self) -> None:
        pane = self.ready(subscription=True)
        pane.submit("LIMIT: 3600")
        screen = pane.wait("What do you want to do")
        self.assertRegex(
            screen.text, r"⎿ \xa0You've hit your session limit · resets \d+(:\d\d)?[ap]m \(UTC\)"
        )
        pane.settle(SETTLE)
        pane.keys("Escape")
        pane.wait(CLAUDE_READY)

    def test_unknown_command_is_no_prompt(self) -> None:
        pane = self.ready()
        pane.submit("/nonexistent")
        pane.wait("Unknown command: /nonexistent")
        self.assertEqual([], self.subject.turns())

    def test_bang_command_runs_without_approval_and_reaches_the_model(self) -> None:
        pane, seen = self.hooked()
        pane.submit("!touch banged")
        self.until(lambda: seen()[-1]["hook_event_name"] == "Stop", "Stop hook")
        self.assertTrue((self.subject.world.place.work / "banged").exists())
        self.assertEqual(["SessionStart", "Stop"], [each["hook_event_name"] for each in seen()])
        (turn,) = self.subject.turns()
        told = "<bash-stdout>(Bash completed with no output)</bash-stdout>"
        self.assertEqual(f"{told}<bash-stderr></bash-stderr>", turn.prompt)

    def test_root_may_not_bypass_outside_a_sandbox(self) -> None:
        if os.geteuid() != 0:
            raise SkipTest("only root is refused")
        pane = self.subject.start("--dangerously-skip-permissions")
        self.assertEqual(1, pane.wait_dead().status)
        self.assertIn("cannot be used with root", pane.everything())

    def test_bypass_warning_marks_no(self) -> None:
        pane = self.subject.start("--dangerously-skip-permissions", env={"IS_SANDBOX": "1"})
        pane.wait("^  ❯ 1. No, exit")
        pane.keys("2")
        pane.wait("bypass permissions on")

    # --- hooks and transcript

    def hooked(self) -> tuple[AgentPane, Callable[[], list[dict[str, Any]]]]:
        """A ready pane with hooks, and what they got."""
        place = self.subject.world.place
        log = place.home / "hooks.jsonl"
        folder = place.work / ".claude"
        folder.mkdir()
        (folder / "settings.local.json").write_text(json.dumps(hook_settings()), "utf-8")

        def seen() -> list[dict[str, Any]]:
            return whole_rows(log)

        pane = self.ready(env={"HOOK_LOG": str(log)})
        self.until(seen, "SessionStart hook")
        return pane, seen

    def test_hooks_of_a_turn_and_of_the_end(self) -> None:
        pane, seen = self.hooked()
        self.answered(pane, "SAY: hello")
        self.until(lambda: seen()[-1]["hook_event_name"] == "Stop", "Stop hook")
        pane.submit("/exit")
        self.assertEqual(0, pane.wait_dead().status)
        self.until(lambda: seen()[-1]["hook_event_name"] == "SessionEnd", "SessionEnd hook")
        start, prompt, stop, end = seen()
        self.assertEqual(("SessionStart", "startup"), (start["hook_event_name"], start["source"]))
        self.assertEqual(
            {"session_id", "transcript_path", "cwd", "hook_event_name", "source", "model"},
            set(start),
        )
        self.assertEqual("SAY: hello", prompt["prompt"])
        self.assertEqual("default", prompt["permission_mode"])
        self.assertEqual("hello", stop["last_assistant_message"])
        self.assertEqual("prompt_input_exit", end["reason"])

    def test_permission_hooks_and_their_notice_after_six_seconds(self) -> None:
        pane, seen = self.hooked()
        asked = time.monotonic()
        pane.submit("RUN: touch made")
        pane.wait("^ ❯ 1. Yes")
        self.until(lambda: seen()[-1]["hook_event_name"] == "Notification", "notice")
        self.assertGreater(time.monotonic() - asked, 6.0)
        names = [each["hook_event_name"] for each in seen()[2:]]
        self.assertEqual(["PreToolUse", "PermissionRequest", "Notification"], names)
        notice = seen()[-1]
        self.assertEqual("permission_prompt", notice["notification_type"])
        self.assertEqual("Claude needs your permission", notice["message"])
        pane.keys("Escape")
        pane.wait("⎿ \xa0Interrupted")
        assert_stays("no other hook", lambda: seen()[-1]["hook_event_name"] == "Notification", 1.0)

    def test_clear_command_begins_another_session(self) -> None:
        pane, seen = self.hooked()
        self.answered(pane, "SAY: hello")
        pane.submit("/clear")
        self.until(lambda: seen()[-1].get("source") == "clear", "SessionStart of the new one")
        ended, began = seen()[-2:]
        self.assertEqual("clear", ended["reason"])
        self.assertNotEqual(ended["session_id"], began["session_id"])

    def test_transcript_is_at_the_path_in_the_hooks(self) -> None:
        pane, seen = self.hooked()
        self.answered(pane, "SAY: hello")
        path = Path(seen()[0]["transcript_path"])
        folder = re.sub(r"[^A-Za-z0-9]", "-", str(self.subject.world.place.work))
        self.assertEqual(folder, path.parent.name)

        def said() -> dict[str, dict[str, Any]]:
            rows = [row for row in whole_rows(path) if row["type"] in ("user", "assistant")]
            return {row["type"]: row for row in rows}

        # On a busy machine the answer may be written before the prompt.
        self.until(lambda: len(said()) == 2, "prompt and answer on disk")
        self.assertEqual("SAY: hello", said()["user"]["message"]["content"])
        self.assertEqual("hello", said()["assistant"]["message"]["content"][0]["text"])
        self.assertEqual(path.stem, said()["assistant"]["sessionId"])

    def test_resume_continues_under_the_same_session_id(self) -> None:
        pane, seen = self.hooked()
        self.answered(pane, "SAY: hello")
        pane.submit("/exit")
        screen = pane.wait_dead()
        found = re.search(r"claude --resume (\S+)", screen.text)
        assert found is not None
        log = str(self.subject.world.place.home / "hooks.jsonl")
        self.ready("--resume", found[1], env={"HOOK_LOG": log})
        self.until(lambda: seen()[-1].get("source") == "resume", "SessionStart of the resumed one")
        self.assertEqual(found[1], seen()[-1]["session_id"])


class PlayedClaudeContractTests(ClaudeContract, SynchronousTestCase):
    """The mock."""

    def setUp(self) -> None:
        stack = ExitStack()
        self.addCleanup(stack.close)
        self.subject = PlayedAgentHarness("claude", stack)


class RealClaudeContractTests(ClaudeContract, SynchronousTestCase):
    """The CLI itself."""

    def setUp(self) -> None:
        stack = ExitStack()
        self.addCleanup(stack.close)
        try:
            self.subject = RealAgentHarness("claude", stack)
        except CliUnavailable as why:
            reason = skip_reason(why, "claude")
            if reason is None:
                raise
            raise SkipTest(reason) from why
