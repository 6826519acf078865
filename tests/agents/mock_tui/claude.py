"""A played Claude Code: start dialogs, composer, commands, screen."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tests.agents.mock_tui import claude_dialogs as dialogs
from tests.agents.mock_tui import claude_view as look
from tests.agents.mock_tui.choice import ChoiceList
from tests.agents.mock_tui.claude_session import MockClaudeOptions, MockClaudeSession
from tests.agents.mock_tui.claude_turns import MockTurns
from tests.agents.mock_tui.claude_view import RESULT, TranscriptEntry
from tests.agents.mock_tui.composer import MockComposer
from tests.agents.mock_tui.engine import SleepStep, Turn, TurnEngine
from tests.agents.mock_tui.keys import Key, PastedText, TypedText
from tests.agents.mock_tui.log import TurnLog
from tests.agents.mock_tui.scenario import DOUBLE, MockScenario, is_deaf
from tests.agents.mock_tui.terminal import MockView

ONE_READ = 200
"""Typed characters from which an Enter in the same read is lost."""

Opening = tuple[ChoiceList, Callable[[int], bool]]
"""A dialog at start, and what its answer means: whether to go on."""


class MockClaude:
    """The program as L{terminal.run} sees it."""

    alternate = False

    def __init__(self, options: MockClaudeOptions, scenario: MockScenario, now: float) -> None:
        self.ended: int | None = None
        self.farewell: Sequence[str] = ()
        self._options, self._scenario = options, scenario
        self._engine = TurnEngine(scenario.speed, options.cwd / scenario.gates, now)
        self._composer = MockComposer()
        self._queue: list[str] = []
        self._session: MockClaudeSession | None = None
        self._turns: MockTurns | None = None
        self._log = TurnLog(options.cwd / scenario.record, "claude")
        self._openings = self._opening_dialogs()
        self._opening: Opening | None = None
        self._ready_at = 0.0
        self._escaped_at, self._interrupted_at = -scenario.double, -DOUBLE
        self._frame, self._epoch = 0, 0
        self._engine.later(scenario.start_delay, self._next_opening)

    # --- start

    def _opening_dialogs(self) -> Iterator[Opening]:
        path = self._options.home / ".claude.json"
        state = json.loads(path.read_text("utf-8")) if path.exists() else {}
        folder = str(self._options.cwd)
        known = state.get("projects", {}).get(folder, {})
        if self._scenario.trust and not known.get("hasTrustDialogAccepted"):
            modal, yes = dialogs.trust(self._options.cwd, self._scenario.trust_layout)
            yield modal, lambda answer: self._trusted(path, answer == yes)
        key = self._options.env.get("ANTHROPIC_API_KEY")
        approved = state.get("customApiKeyResponses", {}).get("approved", [])
        if key is not None and key[-20:] not in approved:
            yield dialogs.key(key[-20:]), lambda answer: True
        if self._options.mode == "bypassPermissions" and not self._bypass_accepted():
            yield dialogs.bypass(), lambda answer: answer == 1
        for name in self._scenario.servers:
            yield dialogs.server(name), lambda answer: True

    def _bypass_accepted(self) -> bool:
        path = self._options.home / ".claude" / "settings.json"
        known = json.loads(path.read_text("utf-8")) if path.exists() else {}
        return bool(known.get("skipDangerousModePermissionPrompt"))

    def _trusted(self, path: Path, yes: bool) -> bool:
        if yes:
            state = json.loads(path.read_text("utf-8")) if path.exists() else {}
            project = state.setdefault("projects", {}).setdefault(str(self._options.cwd), {})
            project["hasTrustDialogAccepted"] = True
            # As the real one: others of the same home never read a half of it.
            draft = path.with_name(f"{path.name}.{os.getpid()}")
            draft.write_text(json.dumps(state), "utf-8")
            draft.replace(path)
        return yes

    def _next_opening(self) -> None:
        self._opening = next(self._openings, None)
        if self._opening is not None:
            self._engine.modal = self._opening[0]
            return
        self._session = MockClaudeSession(self._options, self._scenario, self._engine)
        self._turns = MockTurns(self._session, self._scenario, self._engine, self._log)
        self._session.start(self._options.source)
        self._ready_at = self._engine.now

    def _opened(self, answer: int) -> None:
        assert self._opening is not None
        self._engine.modal = None
        if self._opening[1](answer):
            self._next_opening()
        else:
            self.ended = 1

    # --- keys

    def keys(self, keys: list[Key]) -> None:
        """Act on one read."""
        if self._session is not None:
            self._session.touched()
        if self._engine.modal is not None:
            answer = self._engine.modal.press(keys)
            if answer is not None:
                self._answered(answer)
            return
        if self._session is None:
            return  # nothing reads the terminal yet
        bulky = any(isinstance(key, PastedText) for key in keys)
        bulky = bulky or sum(len(k.text) for k in keys if isinstance(k, TypedText)) > ONE_READ
        for key in _undone(keys):
            self._key(key, bulky=bulky)

    def _answered(self, answer: object) -> None:
        if self._opening is not None:
            assert isinstance(answer, int)
            self._opened(answer)
        else:
            self._engine.answer(answer)
            self._after_turn()

    def _key(self, key: Key, *, bulky: bool) -> None:
        if isinstance(key, TypedText):
            self._composer.type(key.text)
        elif isinstance(key, PastedText):
            self._composer.paste(key.text)
        elif key.name == "enter":
            self._enter(bulky=bulky)
        else:
            self._named(key.name)

    def _named(self, name: str) -> None:
        if name == "newline":
            self._composer.type("\n")
        elif name == "backspace":
            self._composer.backspace()
        elif name == "escape":
            self._escape()
        elif name == "up" and self._queue:
            self._composer.shown = "\n".join(self._queue)
            self._queue.clear()
        elif name == "interrupt":
            self._interrupt()
        elif name == "backtab":
            self._cycle()

    def _interrupt(self) -> None:
        """C-c clears; the second of two ends the program."""
        self._composer.clear()
        if self._engine.now - self._interrupted_at < DOUBLE:
            self._exit()
        self._interrupted_at = self._engine.now

    def _cycle(self) -> None:
        assert self._session is not None
        modes = ["default", "acceptEdits", "plan"]
        known = self._session.mode in modes
        at = modes.index(self._session.mode) if known else -1
        self._session.mode = modes[(at + 1) % len(modes)]

    def _escape(self) -> None:
        if self._engine.busy:
            self._engine.interrupt()
            self._after_turn()
            return
        double = self._engine.now - self._escaped_at < self._scenario.double
        self._escaped_at = self._engine.now
        if not double:
            return
        self._escaped_at = -self._scenario.double
        if self._composer.shown:
            self._composer.clear()
        else:
            assert self._turns is not None
            prompts = [each.text for each in self._turns.entries if each.mark == "❯ "]
            self._engine.modal = dialogs.rewind(prompts)

    def _enter(self, *, bulky: bool) -> None:
        fresh = self._engine.now - self._ready_at < self._scenario.lost_enter
        fresh = fresh or is_deaf(self._scenario, self._options.cwd)
        if bulky or fresh or not self._composer.shown.strip():
            return
        if self._composer.shown.endswith("\\"):
            self._composer.shown = self._composer.shown[:-1] + "\n"
            return
        assert self._turns is not None
        text = self._composer.take()
        if text.startswith("/"):
            self._command(text)
        elif self._engine.busy:
            self._queue.append(text)
        elif text.startswith("!"):
            self._start(self._turns.shell(text[1:]))
        else:
            self._start(self._turns.turn([text]))

    def _start(self, turn: Turn) -> None:
        self._engine.start(turn)
        self._after_turn()

    # --- commands

    def _command(self, text: str) -> None:
        assert self._session is not None
        assert self._turns is not None
        name, _, arguments = text[1:].partition(" ")
        if name in ("exit", "quit"):
            self._exit()
        elif name == "clear":
            self._session.clear()
            self._log.forget()
            self._turns.entries[:] = [TranscriptEntry("❯ ", "/clear")]
            self._session.transcript.command("clear", "", "", self._session.prompt_id)
            self._epoch += 1
        elif name == "compact" and not self._engine.busy:
            self._engine.start(self._compact(arguments))
        elif name == "model" and not arguments:
            self._turns.entries.append(TranscriptEntry("❯ ", text))
            self._engine.modal = dialogs.model()
        else:
            self._turns.entries.append(TranscriptEntry("❯ ", text))
            self._turns.entries.append(TranscriptEntry(RESULT, f"Unknown command: /{name}"))

    def _exit(self) -> None:
        assert self._session is not None
        self.farewell = ("", "Resume this session with:", f"claude --resume {self._session.id}")
        self.ended = 0

    def _compact(self, instructions: str) -> Turn:
        assert self._session is not None
        assert self._turns is not None
        turns = sum(1 for each in self._turns.entries if each.mark == "✻ ")
        shown = f"/compact {instructions}".strip()
        if turns < 2:
            self._turns.entries.append(TranscriptEntry("❯ ", shown))
            self._turns.entries.append(TranscriptEntry(RESULT, "Not enough messages to compact."))
            return
        self._turns.began = self._engine.now
        self._session.fire("PreCompact", trigger="manual", custom_instructions=instructions)
        yield SleepStep(1.0)
        kept = [each for each in self._turns.entries if each.mark == "● "][-1:]
        self._turns.entries[:] = [
            TranscriptEntry("✻ ", "Conversation compacted (ctrl+o for history)"),
            *kept,
            TranscriptEntry("❯ ", shown),
            TranscriptEntry(RESULT, "Compacted (ctrl+o to see full summary)"),
        ]
        self._epoch += 1
        self._session.fire("PostCompact", trigger="manual", compact_summary="A summary.")

    # --- time and screen

    def tick(self, now: float) -> None:
        """Let time pass."""
        self._frame += 1
        self._engine.tick(now)
        if self._session is not None:
            self._session.tick()
            self._after_turn()

    def _after_turn(self) -> None:
        """What follows a turn that is over: its dialog, or the next queued prompt."""
        turns = self._turns
        if turns is None or self._engine.busy or self._engine.modal is not None:
            return
        if turns.taken_back is not None:
            self._composer.shown, turns.taken_back = turns.taken_back, None
            turns.entries.pop()
            self._epoch += 1
        elif turns.limited:
            turns.limited = False
            self._engine.modal = dialogs.limit()
        elif self._queue:
            waiting, self._queue = self._queue, []
            self._start(turns.turn(waiting))

    def view(self, columns: int, rows: int) -> MockView:
        """The screen now."""
        if self._opening is not None:
            return MockView(done=[], live=["", *self._opening[0].rows(columns)], title="")
        turns = self._turns
        if turns is None:
            return MockView(done=[], live=[], title="")
        done = look.banner(columns, self._options.cwd, f"{self._options.display} · API")
        done += look.transcript(turns.entries, columns)
        asking = self._engine.modal is not None
        live = look.transcript(turns.pending, columns)
        cursor = None
        if asking:
            assert self._engine.modal is not None
            live += ["", *self._engine.modal.rows(columns)]
        else:
            live += [*self._working(), *(f"  ❯ {text}" for text in self._queue), "─" * columns]
            text = self._composer_rows(columns)
            cursor = len(live) + len(text) - 1, len(text[-1])
            live += [*text, "─" * columns, *self._footer(columns)]
        working = self._engine.busy and not asking
        title = look.title(busy=working, frame=self._frame)
        return MockView(done=done, live=live, title=title, cursor=cursor, epoch=self._epoch)

    def _working(self) -> list[str]:
        turns = self._turns
        assert turns is not None
        if not self._engine.busy:
            return [""]
        if turns.retry is not None:
            due, attempt, attempts = turns.retry
            return ["", look.retrying(due - self._engine.now, attempt, attempts), ""]
        seconds = (self._engine.now - turns.began) * self._scenario.speed
        return ["", look.spinner(seconds, turns.verb, int(seconds * 3), self._frame // 6), ""]

    def _composer_rows(self, columns: int) -> list[str]:
        shown = self._composer.shown
        text = look.QUEUED if self._queue and not shown else shown.removeprefix("!")
        return look.composer_rows(text, columns, shell=shown.startswith("!"))

    def _footer(self, columns: int) -> list[str]:
        assert self._session is not None
        return look.footer(
            columns,
            mode=self._session.mode,
            empty=not self._composer.shown,
            busy=self._engine.busy,
            shell=self._composer.shown.startswith("!"),
            status=self._session.status,
        )

    def close(self) -> None:
        """End what still runs."""
        if self._session is not None:
            self._session.close(left=self.ended == 0)


def _undone(keys: list[Key]) -> list[Key]:
    """A paste with text behind it in the same read is lost: its end marker came too early."""
    typed = [isinstance(key, TypedText) for key in keys]
    return [
        key
        for number, key in enumerate(keys)
        if not (isinstance(key, PastedText) and any(typed[number + 1 :]))
    ]
