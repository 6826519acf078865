"""How Codex, Gemini CLI, opencode and pi look, as far as their first steps go.

Each layout is a set of functions that return rows; what happens and when is
in L{simple}.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from attrs import frozen

from tests.agents.mock_tui.choice import ChoiceList, ChoiceRow
from tests.agents.mock_tui.terminal import folded

BRAILLE = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


@frozen(kw_only=True)
class LayoutContext:
    """What a layout needs to know.

    @ivar text: the composer's text.
    @ivar busy: whether a turn is at work, no dialog open.
    @ivar seconds: since the turn began.
    @ivar home: nothing was said yet.
    """

    cwd: Path
    text: str
    busy: bool
    seconds: float
    frame: int
    queue: Sequence[str] = ()
    asking: bool = False
    home: bool = False


@frozen(kw_only=True)
class FamilyLayout:
    """One layout.

    @ivar trust: the first dialog and the option that trusts; L{None} without one.
    @ivar approval: the dialog before a shell command; L{None} where none is asked for.
    @ivar writing: the dialog before a file is written; L{None} where the mock knows none.
    @ivar header: rows over the transcript.
    @ivar prompt, answer, tool: rows of one entry of the transcript.
    @ivar bottom: rows under the transcript, and the composer's place in them.
    @ivar refused, interrupted, failed: what a turn leaves that ended so.
    @ivar steers: Enter in a running turn replaces the answer rather than queueing.
    @ivar escapes: how many Escapes interrupt a turn.
    """

    name: str
    alternate: bool
    header: Callable[[Path], list[str]]
    prompt: Callable[[str, int], list[str]]
    answer: Callable[[str, int], list[str]]
    tool: Callable[[str], list[str]]
    bottom: Callable[[LayoutContext, int], tuple[list[str], tuple[int, int]]]
    title: Callable[[LayoutContext], str]
    trust: Callable[[Path, int], tuple[ChoiceList, int]] | None = None
    approval: Callable[[str, int], ChoiceList] | None = None
    writing: Callable[[str, str], ChoiceList] | None = None
    refused: str
    interrupted: str
    failed: str
    done: str | None = None
    steers: bool = False
    escapes: int = 1


def _glyph(shown: LayoutContext) -> str:
    return BRAILLE[shown.frame // 4 % len(BRAILLE)]


# --- Codex


def _codex_trust(cwd: Path, columns: int) -> tuple[ChoiceList, int]:
    text = (
        "  Trust this folder? Codex can read, edit, and run files here, subject to your"
        " permission settings. Folder settings can run code automatically, even without a model"
        " request. Continue only if you trust these files. Your trust decision will be saved."
    )
    above = ("  Folder access", f"  {cwd}", "", text, "")
    options = ("Trust and continue", "Back to Agent Command Center")
    below = ("", "  enter continue · esc back")
    return ChoiceList(above, options, below, marker="›", indent=0), 0


def _codex_approval(command: str, columns: int) -> ChoiceList:
    above = (
        "  Would you like to run the following command?",
        "",
        "  Environment: local",
        "",
        "  Reason: May the test's command run outside the sandbox?",
        "",
        f"  $ {command}",
        "",
    )
    options = (
        "Yes, proceed (y)",
        f"Yes, and don't ask again for commands that start with `{command}` (p)",
        "No, and tell Codex what to do differently (esc)",
    )
    below = ("", "  Press enter to confirm or esc to cancel")
    return ChoiceList(above, options, below, marker="›", indent=0, letters={"y": 0, "p": 1})


def _codex_bottom(shown: LayoutContext, columns: int) -> tuple[list[str], tuple[int, int]]:
    working = [f"• Working ({int(shown.seconds)}s • esc to interrupt)", ""] if shown.busy else []
    text = folded(shown.text or "Ask Codex to do anything", columns, "› ", "  ")
    hint = "tab to queue message" if shown.busy and shown.text else "? for shortcuts"
    foot = ["", f"  stub-model default · {shown.cwd}", f"  ← for agents · {hint}"]
    column = len(text[-1]) if shown.text else 2
    return [*working, *text, *foot], (len(working) + len(text) - 1, column)


def _codex_title(shown: LayoutContext) -> str:
    if shown.asking:
        return f"[ ! ] Action Required | {shown.cwd.name}"
    return f"{_glyph(shown)} {shown.cwd.name}" if shown.busy else shown.cwd.name


CODEX = FamilyLayout(
    name="codex",
    alternate=True,
    header=lambda cwd: ["", "  >_ OpenAI Codex (v0.169.0)", f"     {cwd}", ""],
    prompt=lambda text, columns: ["", *folded(text, columns, "› ", "  "), ""],
    answer=lambda text, columns: [*folded(text, columns, "• ", "  "), ""],
    tool=lambda command: [f"• Ran {command}", "  └ (no output)", ""],
    bottom=_codex_bottom,
    title=_codex_title,
    trust=_codex_trust,
    approval=_codex_approval,
    refused="■ Conversation interrupted - use /feedback if something went wrong",
    interrupted="■ Conversation interrupted - use /feedback if something went wrong",
    failed="■ stub says {status}",
    done="  Worked for {seconds}s • 12:00",
    steers=True,
)


# --- Gemini CLI


def _boxed(rows: Sequence[str], columns: int) -> list[str]:
    inside = columns - 4
    body = [f"│ {row[:inside]:<{inside}} │" for row in rows]
    return [f"╭{'─' * (columns - 2)}╮", *body, f"╰{'─' * (columns - 2)}╯"]


class _BoxedChoice(ChoiceList):
    """A list in a box."""

    def rows(self, columns: int) -> list[str]:
        """The dialog in its box."""
        text = [row for each in self.above for row in folded(each, columns - 4, "", "")]
        return _boxed([*text, *self.option_rows(columns - 4)], columns)


def _gemini_trust(cwd: Path, columns: int) -> tuple[ChoiceList, int]:
    text = (
        "Trusting a folder allows Gemini CLI to load its local configurations, including custom"
        " commands, hooks, MCP servers, agent skills, and settings. These configurations could"
        " execute code on your behalf or change the behavior of the CLI."
    )
    above = ("", "Do you trust the files in this folder?", "", text, "", "")
    options = (
        f"Trust folder ({cwd.name})",
        f"Trust parent folder ({cwd.parent.name})",
        "Don't trust",
    )
    return _BoxedChoice(above, options, marker="●", indent=0), 0


def _gemini_approval(command: str, columns: int) -> ChoiceList:
    above = (f"? Shell  {command}", "", "Allow execution of [Shell]?", "")
    options = ("Allow once", "Allow for this session", "No, suggest changes (esc)")
    return _BoxedChoice(above, options, marker="●", indent=0)


class _BoxedChange(_BoxedChoice):
    """A list in a box, below a box with what would be written."""

    def rows(self, columns: int) -> list[str]:
        """The dialog in its box, the change in one of its own."""
        tool, *change, question = self.above
        inner = _boxed([f"{n} {line}" for n, line in enumerate(change, 1)], columns - 4)
        return _boxed([tool, *inner, question, "", *self.option_rows(columns - 4)], columns)


def _gemini_writing(path: str, content: str) -> ChoiceList:
    tool = f"? WriteFile  Writing to {Path(path).name}"
    above = (tool, *content.splitlines(), "Apply this change?")
    options = (
        "Allow once",
        "Allow for this session",
        "Modify with external editor",
        "No, suggest changes (esc)",
    )
    return _BoxedChange(above, options, marker="●", indent=0)


def _gemini_bottom(shown: LayoutContext, columns: int) -> tuple[list[str], tuple[int, int]]:
    queued = [f"    {text}" for text in shown.queue]
    above = ["", "  Queued (press ↑ to edit):", *queued] if queued else [""]
    if shown.busy:
        above += [f" {_glyph(shown)} Thinking... (esc to cancel, {int(shown.seconds)}s)"]
    above += ["─" * columns, " Shift+Tab to accept edits", "▄" * columns]
    text = folded(shown.text or "  Type your message or @path/to/file", columns, " > ", "   ")
    foot = ["▀" * columns, " workspace (/directory)      sandbox      /model", f" {shown.cwd}"]
    column = len(text[-1]) if shown.text else 3
    return [*above, *text, *foot], (len(above) + len(text) - 1, column)


def _gemini_title(shown: LayoutContext) -> str:
    mark = "◇  Ready"
    if shown.asking:
        mark = "✋  Action Required"
    elif shown.busy:
        mark = "✦  Working…"
    return f"{mark} ({shown.cwd.name})"


def _gemini_prompt(text: str, columns: int) -> list[str]:
    return ["▄" * columns, *folded(text, columns, " > ", "   "), "▀" * columns]


GEMINI = FamilyLayout(
    name="gemini",
    alternate=False,
    header=lambda cwd: ["", " ▝▜▄     Gemini CLI v0.61.0", "", "Tips for getting started:", ""],
    prompt=_gemini_prompt,
    answer=lambda text, columns: folded(text, columns, "✦ ", "  "),
    tool=lambda command: [f"  ✓  Shell {command}", ""],
    bottom=_gemini_bottom,
    title=_gemini_title,
    trust=_gemini_trust,
    approval=_gemini_approval,
    writing=_gemini_writing,
    refused="ℹ Request cancelled.",
    interrupted="ℹ Request cancelled.",
    failed="✕ [API Error: stub says {status}]",
)


# --- opencode


def _opencode_approval(command: str, columns: int) -> ChoiceList:
    above = (
        "  ┃",
        "  ┃  △ Permission required",
        "  ┃    # Shell command",
        "  ┃",
        f"  ┃  $ {command}",
        "  ┃",
    )
    return ChoiceRow(above, ("Allow once", "Allow always", "Reject"), ("  ┃",), numbered=False)


def _opencode_bottom(shown: LayoutContext, columns: int) -> tuple[list[str], tuple[int, int]]:
    queued = [row for text in shown.queue for row in (f"  ┃  {text}", "  ┃   QUEUED", "")]
    hint = 'Ask anything… "Fix broken tests"' if shown.home else ""
    text = folded(shown.text or hint, columns, "  ┃  ", "  ┃  ")
    above = ["", *queued, "  ┃"]
    foot = ["  ┃", "  ┃  Build · Stub Model stub", f"  ╹{'▀' * (columns - 5)}"]
    state = "   ■■■■⬝⬝⬝⬝  esc interrupt" if shown.busy else f"   {shown.cwd}"
    column = len(text[-1]) if shown.text else 5
    place = len(above) + len(text) - 1, column
    return [*above, *text, *foot, f"{state}   ctrl+p commands"], place


OPENCODE = FamilyLayout(
    name="opencode",
    alternate=True,
    header=lambda cwd: [""],
    prompt=lambda text, columns: ["  ┃", *folded(text, columns, "  ┃  ", "  ┃  "), "  ┃", ""],
    answer=lambda text, columns: [*folded(text, columns, "     ", "     "), ""],
    tool=lambda command: [f"     $ {command}", ""],
    bottom=_opencode_bottom,
    title=lambda shown: "OC | A short title" if shown.busy else "OpenCode",
    approval=_opencode_approval,
    refused="     ▣  Build · Stub Model · interrupted",
    interrupted="     ▣  Build · Stub Model · interrupted",
    failed="     stub says {status}",
    done="     ▣  Build · Stub Model · {seconds}s",
    escapes=2,
)


# --- pi


def _pi_bottom(shown: LayoutContext, columns: int) -> tuple[list[str], tuple[int, int]]:
    above = [""]
    if shown.queue:
        above += [f" Steering: {text}" for text in shown.queue]
        above += [" ↳ Alt+Up to edit all queued messages", ""]
    above += [f" {_glyph(shown)} Working...", ""] if shown.busy else []
    above.append("─" * columns)
    text = folded(shown.text, columns, "", "")
    foot = ["─" * columns, str(shown.cwd), "0.0%/128k (auto)      stub-model"]
    return [*above, *text, *foot], (len(above) + len(text) - 1, len(text[-1]))


PI = FamilyLayout(
    name="pi",
    alternate=False,
    header=lambda cwd: ["", " pi v0.73.1", " escape interrupt · / commands · ! bash", ""],
    prompt=lambda text, columns: ["", *folded(text, columns, " ", " "), ""],
    answer=lambda text, columns: [*folded(text, columns, " ", " "), ""],
    tool=lambda command: ["", f" $ {command}", "", " (no output)", ""],
    bottom=_pi_bottom,
    title=lambda shown: f"π - {shown.cwd.name}",
    refused="",
    interrupted=" Operation aborted",
    failed=" Error: {status} stub says {status}",
)


FAMILIES: Mapping[str, FamilyLayout] = {each.name: each for each in (CODEX, GEMINI, OPENCODE, PI)}
