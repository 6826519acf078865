"""The turns of a played Claude Code."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Generator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

from attrs import define, field

from tests.agents.mock_tui import claude_dialogs as dialogs
from tests.agents.mock_tui.choice import ESCAPED
from tests.agents.mock_tui.claude_session import MockClaudeSession
from tests.agents.mock_tui.claude_view import ASKED, RESULT, TranscriptEntry
from tests.agents.mock_tui.engine import (
    AskStep,
    Await,
    ChildStep,
    GateStep,
    SleepStep,
    Turn,
    TurnEngine,
    TurnInterrupted,
)
from tests.agents.mock_tui.form import MockForm
from tests.agents.mock_tui.log import TurnLog
from tests.agents.mock_tui.questions import QuestionPage, QuestionsDialog
from tests.agents.mock_tui.scenario import MockScenario
from tests.agents.stub.record import Outcome
from tests.agents.stub.script import (
    CLOSING,
    CallDirective,
    FailDirective,
    Plan,
    SayDirective,
    ShellDirective,
    plan,
)

INTERRUPTED = TranscriptEntry(RESULT, "Interrupted · What should Claude do instead?")
PERMISSION = ("permission_prompt", "Claude needs your permission")
ELICITATION = ("elicitation_dialog", "Claude Code needs your input")
SAFE = re.compile(r"(?:(?:echo|ls|pwd|sleep|cat|true)\b[^<>|&$`]*(?:;\s*|$))+")
"""Shell commands that it runs without asking."""

Steps = Generator[Await, object, str]
"""Part of a turn; its value is the model's last text."""


class TurnEnded(Exception):
    """The turn is over without a closing hook."""


@define
class MockTurns:
    """Plays turns and keeps what they leave on the screen.

    @ivar entries: the transcript as shown; it only grows.
    @ivar pending: the tool call at work, or the first sign of an answer.
    @ivar retry: row of a retry countdown: when, attempt, attempts.
    @ivar taken_back: the prompt of a turn that was interrupted before any answer.
    @ivar limited: a usage limit was hit, so its dialog opens next.
    """

    session: MockClaudeSession
    scenario: MockScenario
    engine: TurnEngine
    log: TurnLog
    entries: list[TranscriptEntry] = field(factory=list)
    pending: list[TranscriptEntry] = field(factory=list)
    retry: tuple[float, int, int] | None = None
    began: float = 0.0
    verb: str = "Baking"
    taken_back: str | None = None
    limited: bool = False
    limits_hit: int = 0
    allowed: set[str] = field(factory=set)
    _number: int = 0
    _spoke: bool = False

    def turn(self, prompts: Sequence[str]) -> Turn:
        """Everything about a prompt, or about all those that were queued."""
        self.began, self._spoke = self.engine.now, False
        for each in prompts:
            self.entries.append(TranscriptEntry("❯ ", each))
            self.session.prompted(each)
        yield from self._told(prompts)

    def shell(self, command: str) -> Turn:
        """C{!command}: it runs, and the model is told what it printed; only Stop is heard of it."""
        self.began, self._spoke = self.engine.now, True
        self.entries.append(TranscriptEntry("! ", command))
        try:
            _, result = yield from self._bash(command)
        except TurnInterrupted:
            self.entries.append(INTERRUPTED)
            return
        printed = result["stdout"].strip() or "(Bash completed with no output)"
        self.entries.append(TranscriptEntry(RESULT, printed))
        told = f"<bash-stdout>{printed}</bash-stdout><bash-stderr></bash-stderr>"
        self.session.ran(command, told)
        yield from self._told([told])

    def _told(self, prompts: Sequence[str]) -> Turn:
        """The model's part of a turn."""
        prompt = prompts[-1]
        planned = plan(self.scenario.answers.get(prompt, prompt), last_tool=None, has_tools=True)
        self._number = self.log.begin(prompts, planned)
        outcome: Outcome = "said"
        try:
            yield SleepStep(0.05)
            said = yield from self._answer(planned)
            self._finished(said)
        except TurnInterrupted:
            outcome = "aborted"
            self._interrupted(prompt)
        except TurnEnded as end:
            outcome = end.args[0]
        self.pending, self.retry = [], None
        self.log.end(self._number, outcome)

    def _finished(self, said: str) -> None:
        self._row()
        self.session.transcript.said({"type": "text", "text": said}, self._model, "end_turn")
        self.session.transcript.finished(self.engine.now - self.began)
        self.session.stopped(said)

    def _row(self) -> None:
        seconds = int((self.engine.now - self.began) * self.scenario.speed)
        self.entries.append(TranscriptEntry("✻ ", f"Baked for {seconds}s"))

    @property
    def _model(self) -> str:
        return self.session.options.model

    def _interrupted(self, prompt: str) -> None:
        if not self._spoke:
            self.taken_back = prompt
            return
        self.entries += [*self.pending, INTERRUPTED]
        self.session.transcript.interrupted(self.session.prompt_id, tool=False)

    def _answer(self, planned: Plan) -> Steps:
        if isinstance(planned, SayDirective):
            return (yield from self._say(planned))
        if isinstance(planned, FailDirective):
            return (yield from self._fail(planned))
        if isinstance(planned, ShellDirective):
            given = {"command": planned.command, "description": "Do what the test says"}
            planned = CallDirective(name="Bash", arguments=given)
        yield from self._use(planned)
        return (yield from self._say(SayDirective(text=CLOSING)))

    def _say(self, say: SayDirective) -> Steps:
        if say.think:
            yield SleepStep(say.think)
        self._spoke, self.pending = True, [TranscriptEntry("● ", "")]
        words = say.text.split(" ") if say.pause else []
        for number in range(len(words)):
            yield SleepStep(say.pause)
            self.pending = [TranscriptEntry("● ", "")] if number < len(words) - 1 else []
        if say.hold is not None:
            yield GateStep(say.hold)
        self.pending = []
        self.entries.append(TranscriptEntry("● ", say.text))
        return say.text

    def _fail(self, fail: FailDirective) -> Steps:
        if fail.reset is not None and self.session.options.subscription:
            self._limit(fail.reset)
        if fail.status in (401, 429, 529):
            for attempt in range(1, self.scenario.attempts + 1):
                wait = self.scenario.retry
                self.retry = self.engine.now + wait, attempt, self.scenario.attempts
                self._spoke = False
                yield SleepStep(wait)
        self.retry = None
        text = f"API Error: {fail.status} stub says {fail.status}"
        self.entries.append(TranscriptEntry("● ", text))
        self._row()
        self.session.fire("StopFailure", error="unknown", last_assistant_message=text)
        raise TurnEnded("failed")

    def _limit(self, reset: int) -> None:
        moment = datetime.now(UTC) + timedelta(seconds=reset)
        clock = moment.strftime("%I:%M%p").lstrip("0").lower()
        text = f"You've hit your session limit · resets {clock} (UTC)"
        self.limits_hit += 1
        more = "\n/upgrade to increase your usage limit." if self.limits_hit > 1 else ""
        self.entries.append(TranscriptEntry(RESULT, text + more))
        self._row()
        self.session.fire("StopFailure", error="rate_limit", last_assistant_message=text)
        self.limited = self.limits_hit == 1
        raise TurnEnded("failed")

    def _use(self, call: CallDirective) -> Generator[Await, object, None]:
        use, given = f"toolu_{self._number:020d}", dict(call.arguments)
        self._spoke = True
        self.entries.append(TranscriptEntry("● ", f"I will use {call.name}."))
        block = {"type": "tool_use", "id": use, "name": call.name, "input": given}
        self.session.transcript.said(block, self._model, "tool_use")
        self.session.fire("PreToolUse", tool_name=call.name, tool_input=given, tool_use_id=use)
        result: object
        if call.name == "AskUserQuestion":
            result = yield from self._questions(given, use)
        elif call.name == "ExitPlanMode":
            result = yield from self._plan(given)
        else:
            result = yield from self._permitted(call.name, given, use)
        self.pending = []
        self.session.transcript.result(use, str(result), self.session.prompt_id)
        self.session.fire(
            "PostToolUse",
            tool_name=call.name,
            tool_input=given,
            tool_response=result,
            tool_use_id=use,
            duration_ms=10,
        )

    def _permitted(
        self, name: str, given: Mapping[str, Any], use: str
    ) -> Generator[Await, object, object]:
        label = TranscriptEntry("● ", _label(name, given))
        self.pending = [label, TranscriptEntry(RESULT, "Waiting…")]
        if self._asks(name, given):
            modal = dialogs.permission(name, given, self.session.options.cwd)
            answer = yield from self._ask(name, given, AskStep(modal))
            if answer in (2, ESCAPED):
                self._refused(name, given, label, use)
            if answer == 1:
                self.allowed.add(name)
        self.pending = [label, TranscriptEntry(RESULT, "Running…")]
        shown, result = yield from self._run(name, given)
        self.entries += [label, TranscriptEntry(RESULT, shown)]
        return result

    def _asks(self, name: str, given: Mapping[str, Any]) -> bool:
        mode = self.session.mode
        if mode == "bypassPermissions" or name in self.allowed:
            return False
        if name == "Write" and mode == "acceptEdits":
            return False
        return not (name == "Bash" and SAFE.fullmatch(given["command"]))

    def _ask(
        self, name: str, given: Mapping[str, Any], ask: AskStep
    ) -> Generator[Await, object, object]:
        def decided(printed: str) -> None:
            """The first answer counts: that of the hook, or of a key."""
            answer = _read_decision(printed)
            if answer is not None and self.engine.modal is ask.modal:
                self.engine.answer(answer)

        self.session.ask(decided, tool_name=name, tool_input=given, permission_suggestions=[])
        self.session.dialog(*PERMISSION)
        answer = yield ask
        self.session.answered()
        return answer

    def _refused(
        self, name: str, given: Mapping[str, Any], label: TranscriptEntry, use: str
    ) -> None:
        text = INTERRUPTED.text
        if name == "Write":
            text = f"User rejected write to {Path(given['file_path']).name}"
        if name == "Edit":
            text = f"User rejected update to {Path(given['file_path']).name}"
        self.entries += [label, TranscriptEntry(RESULT, text)]
        why = "The user doesn't want to proceed with this tool use."
        self.session.transcript.result(use, why, self.session.prompt_id, refused=True)
        self.session.transcript.interrupted(self.session.prompt_id, tool=True)
        raise TurnEnded("aborted")

    def _run(
        self, name: str, given: Mapping[str, Any]
    ) -> Generator[Await, object, tuple[str, object]]:
        if name == "Bash":
            return (yield from self._bash(given["command"]))
        if name == "Write":
            Path(given["file_path"]).write_text(given["content"], "utf-8")
            lines = str(given["content"]).count("\n")
            shown = f"Wrote {lines} lines to {Path(given['file_path']).name}"
            return shown, {"type": "create", "filePath": given["file_path"]}
        if name == "Edit":
            path = Path(given["file_path"])
            old = path.read_text("utf-8")
            path.write_text(old.replace(given["old_string"], given["new_string"], 1), "utf-8")
            return f"Updated {path.name}", {"filePath": given["file_path"]}
        if name == "WebFetch":
            return "Received 2 bytes (200 OK)", {"code": 200, "url": given["url"]}
        answer = yield from self._form(name.split("__")[1])
        return str(answer), [{"type": "text", "text": str(answer)}]

    def _bash(self, command: str) -> Generator[Await, object, tuple[str, dict[str, Any]]]:
        child = subprocess.Popen(
            ["sh", "-c", command],
            cwd=self.session.options.cwd,
            env=dict(self.session.options.env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        yield ChildStep(child)
        assert child.stdout is not None
        out = child.stdout.read()
        child.stdout.close()
        response = {"stdout": out, "stderr": "", "interrupted": False, "isImage": False}
        return out.strip() or "(No output)", response

    def _form(self, server: str) -> Generator[Await, object, tuple[str, object]]:
        self.session.fire(
            "Elicitation", mcp_server_name=server, message="Who are you?", mode="form"
        )
        self.session.dialog(*ELICITATION)
        answer = cast("tuple[str, object]", (yield AskStep(MockForm(server, "Who are you?"))))
        self.session.answered()
        action, content = answer
        self.session.fire(
            "ElicitationResult",
            mcp_server_name=server,
            mode="form",
            action=action,
            content=content,
        )
        message = f'Elicitation response for server "{server}": {action}'
        self.session.fire("Notification", message=message, notification_type="elicitation_response")
        return answer

    def _questions(
        self, given: Mapping[str, Any], use: str
    ) -> Generator[Await, object, dict[str, Any]]:
        pages = [QuestionPage.of(question) for question in given["questions"]]
        answer = yield from self._ask("AskUserQuestion", given, AskStep(QuestionsDialog(pages)))
        if not isinstance(answer, dict):
            asked = [
                f"· {page.text} ({' / '.join(label for label, _ in page.options)})"
                for page in pages
            ]
            self.entries.append(TranscriptEntry(ASKED, "User declined to answer questions"))
            self.entries.append(TranscriptEntry(RESULT, "\n".join(asked)))
            raise TurnEnded("aborted")
        self.entries.append(TranscriptEntry(ASKED, "User answered Claude's questions:"))
        shown = [f"· {question} → {said}" for question, said in answer.items()]
        self.entries.append(TranscriptEntry(RESULT, "\n".join(shown)))
        return {**given, "answers": answer, "annotations": {}}

    def _plan(self, given: Mapping[str, Any]) -> Generator[Await, object, str]:
        written = given.get("plan")
        modal = dialogs.plan(written) if written else dialogs.leave_plan_mode()
        if written:
            self.entries.append(TranscriptEntry("● ", "Updated plan"))
        answer = yield from self._ask("ExitPlanMode", given, AskStep(modal))
        if answer in (len(modal.options) - 1, ESCAPED):
            self.entries.append(TranscriptEntry("● ", "User rejected Claude's plan"))
            raise TurnEnded("aborted")
        self.session.mode = "auto" if answer == 0 else "default"
        return "User has approved your plan."


def _read_decision(printed: str) -> object | None:
    """The answer in what a hook printed."""
    if not printed.startswith("{"):
        return None
    decision = json.loads(printed)["hookSpecificOutput"]["decision"]
    if decision["behavior"] == "deny":
        return ESCAPED
    answer: object = decision.get("updatedInput", {}).get("answers", 0)
    return answer


def _label(name: str, given: Mapping[str, Any]) -> str:
    if name == "Bash":
        return f"Bash({given['command']})"
    if name == "Write":
        return f"Write({Path(given['file_path']).name})"
    if name == "Edit":
        return f"Update({Path(given['file_path']).name})"
    if name == "WebFetch":
        return f"Fetch({given['url']})"
    return f"Calling {name.split('__')[1]}… (ctrl+o to expand)"
