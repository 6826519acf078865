"""Items of the approval inbox, as records (protocol-approvals). Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from attrs import evolve, frozen

from tservice.agents.approvals.risk import find_risk, find_screen_risk
from tservice.agents.foldertrust.counted import SHOWN_CHARS, FolderFinding
from tservice.agents.model import MESSAGE_CHARS, find_summary_key
from tservice.core.text import cut_between, cut_marked
from tservice.terminal.dialog_kinds import DialogKind as DialogKind
from tservice.terminal.dialog_kinds import says_trust
from tservice.terminal.dialogs import AgentDialog

LIFETIME_MS = 12 * 3600 * 1000
"""Milliseconds until an item expires (protocol-approvals)."""
MEMORY_MS = 60 * 1000
"""Milliseconds for which a resolution other than an answer is remembered for late answers
(protocol-approvals).
"""
FOLDER_TOOL = "commands of its folder"
"""C{toolName} of a question about a folder."""
FOLDER_HINT = "Runs or permits something unasked, as soon as the session starts"
TOO_LONG = "Is too long to be shown completely"
CONTEXT_LINES = 30
CONTEXT_CHARS = 4000

_ESCAPE = re.compile(
    r"\besc(?:ape)?\b(?: to)? (?:cancel|clear|close|back|exit|go back)", re.IGNORECASE
)

QUESTION_TOOL = "AskUserQuestion"
IDLE_FRAME = "idle"
"""Value of C{frame} of an idle item, which has no dialog."""

ASKING = frozenset(
    {
        DialogKind.PERMISSION,
        DialogKind.PLAN,
        DialogKind.QUESTION,
        DialogKind.REVIEW,
        DialogKind.FORM,
    }
)
"""Dialogs that an agent raises in a turn; the others belong to its start or to its own menus."""


class ItemKind(StrEnum):
    """Kind of an item that waits for a person."""

    PERMISSION = "permission"
    QUESTION = "question"
    IDLE = "idle"


class ApprovalResolution(StrEnum):
    """Reason why an item ended."""

    ANSWERED = "answered"
    IN_TERMINAL = "resolved_in_terminal"
    SUPERSEDED = "superseded"
    SESSION_ENDED = "session_ended"
    DISMISSED = "dismissed"
    EXPIRED = "expired"


@frozen(kw_only=True)
class ItemOption:
    """Option of a dialog, as clients see it.

    @ivar selected: the highlight is on it.
    @ivar checked: true if its box is ticked; C{None} if it has none.
    @ivar description: the dialog's text about it, apart from its label.
    """

    n: int
    label: str
    selected: bool
    checked: bool | None = None
    description: str | None = None


@frozen(kw_only=True)
class ApprovalItem:
    """Pending item of the inbox.

    @ivar owner: the owner of its session; not shown, because the session's record contains it.
    @ivar frame: hash of the dialog as captured; L{IDLE_FRAME} if there is none.
    @ivar tool_digest: digest of all inputs of the tool; C{None} if no hook reported it.
    @ivar tool_missing: number of characters of the summary that are not stored.
    @ivar tool_other: names of further inputs of the tool.
    @ivar seen_command: the command that the dialog itself shows; C{seen_whole}: it is complete.
    @ivar context_above: rows of the dialog above C{context}.
    @ivar risk_hint: description of a possible risk.
    @ivar folder_digest: digest of what the session's folder brings, of which a person is asked
        before a start; C{None} for a dialog. C{folder_lasting}: the answer may be remembered.
    @ivar acknowledged_at: Unix milliseconds at which a user viewed the idle session.
    """

    id: str
    session_id: str
    session_name: str
    owner: str | None
    kind: ItemKind
    created_at: int
    frame: str
    tool_name: str | None = None
    tool_summary: str | None = None
    message: str | None = None
    cwd: str | None = None
    context: str | None = None
    options: tuple[ItemOption, ...] = ()
    acknowledged_at: int | None = None
    tool_digest: str | None = None
    tool_missing: int | None = None
    tool_other: tuple[str, ...] | None = None
    seen_command: str | None = None
    seen_whole: bool = False
    context_above: int = 0
    risk_hint: str | None = None
    folder_digest: str | None = None
    folder_lasting: bool = False

    @property
    def tool_identity(self) -> tuple[str | None, str | None, str | None]:
        """Tool, summary and digest."""
        return self.tool_name, self.tool_summary, self.tool_digest

    @property
    def shown_frame(self) -> str:
        """Value of C{frame} for clients: it differs if the same rows show another command."""
        if self.tool_digest is None:
            return self.frame
        return hashlib.sha256(f"{self.frame} {self.tool_digest}".encode()).hexdigest()[:32]

    @property
    def complete(self) -> bool | None:
        """True if a permission's tool and summary show everything that it covers."""
        if self.kind is not ItemKind.PERMISSION:
            return None
        if self.tool_name is None:
            return self.seen_whole
        return self.tool_digest is not None and not self.tool_missing and not self.tool_other

    @property
    def expires_at(self) -> int:
        """Time of expiry, in Unix milliseconds."""
        return self.created_at + LIFETIME_MS


def is_asking(dialog: AgentDialog | None) -> bool:
    """Return true if an agent raised the dialog, or if it is a picker that a command opened."""
    return dialog is not None and (is_raised(dialog) or is_picker(dialog))


def is_raised(dialog: AgentDialog | None) -> bool:
    """Return true if an agent raised the dialog in a turn."""
    return dialog is not None and dialog.kind in ASKING


def is_picker(dialog: AgentDialog) -> bool:
    """Return true if the dialog is one of the agent's own menus or pages, which Escape closes
    (protocol-prompts).
    """
    # At its start an agent asks if a key may be used, and a command offers ways to sign in.
    offers = dialog.kind is DialogKind.API_KEY and dialog.question is None
    if not (offers or dialog.kind is DialogKind.NOTICE) or says_trust(dialog.context):
        return False
    return any(_ESCAPE.search(row) for row in dialog.context)


def choose_item_kind(dialog: AgentDialog, tool_name: str | None) -> ItemKind:
    """Return question or permission (protocol-approvals): by the tool, else by the screen.

    A dialog whose upper rows are cut off looks like a menu; a named tool shows that it is none.
    """
    asks = dialog.kind in (DialogKind.QUESTION, DialogKind.REVIEW, DialogKind.FORM) or (
        tool_name is None and is_picker(dialog)
    )
    return ItemKind.QUESTION if asks or tool_name == QUESTION_TOOL else ItemKind.PERMISSION


def update_from_dialog(item: ApprovalItem, dialog: AgentDialog) -> ApprovalItem:
    """Return the item updated to the current dialog.

    The message of a question is the question itself. The same applies to a dialog without a hook.
    """
    kind = choose_item_kind(dialog, item.tool_name)
    said = dialog.question or (dialog.title if _describes_itself(dialog) else "")
    own = kind is ItemKind.QUESTION or _describes_itself(dialog) or item.message is None
    asked = cut_marked(said, MESSAGE_CHARS) if own else ""
    command = dialog.command
    text = None if command is None else command.text
    hint = find_screen_risk(dialog.context) if text is None else find_risk(text, wrapped=True)
    return evolve(
        item,
        kind=kind,
        message=asked or item.message,
        frame=dialog.frame_hash,
        context=clip_rows(dialog.context),
        context_above=dialog.above,
        options=make_item_options(dialog),
        seen_command=text,
        seen_whole=command is not None and command.whole,
        risk_hint=hint if item.tool_digest is None else item.risk_hint,
    )


def with_folder(item: ApprovalItem, working_dir: str, found: FolderFinding) -> ApprovalItem:
    """The item as a question about what the session's folder brings."""
    summary = found.summary()
    kept = cut_between(summary, SHOWN_CHARS)
    return evolve(
        item,
        tool_name=FOLDER_TOOL,
        tool_summary=kept,
        tool_missing=len(summary) - len(kept) or None,
        tool_digest=found.digest,
        cwd=working_dir,
        message="The session has not started: its folder is asked about first",
        options=(
            ItemOption(n=1, label="Yes, trust this folder and start", selected=False),
            ItemOption(n=2, label="No, do not start", selected=False),
        ),
        risk_hint=FOLDER_HINT if found.brings else None,
        folder_digest=found.digest,
        folder_lasting=found.lasting,
    )


def make_item_options(dialog: AgentDialog) -> tuple[ItemOption, ...]:
    """Return the dialog's options, as clients see them."""
    return tuple(
        ItemOption(
            n=option.n,
            label=option.label,
            selected=option.selected,
            checked=option.checked,
            description=option.description,
        )
        for option in dialog.options
    )


def _describes_itself(dialog: AgentDialog) -> bool:
    """Return true if no hook describes the dialog, so that its own text must."""
    return is_picker(dialog) or dialog.kind is DialogKind.PLAN


def update_from_hook(item: ApprovalItem, data: Mapping[str, Any]) -> ApprovalItem:
    """Return the item updated by a hook's data; missing fields keep their values.

    A question's own text is kept too, because the hook only reports that the agent waits.
    """
    asked = item.message if item.kind is ItemKind.QUESTION and item.context else None
    if data.get("tool_digest"):
        command = data["tool_input"].get("command")
        item = evolve(
            item,
            tool_summary=summarize_tool(data["tool_input"]),
            tool_digest=data["tool_digest"],
            tool_missing=data.get("tool_missing"),
            tool_other=tuple(data.get("tool_other", ())) or None,
            risk_hint=_find_risk(command, data.get("tool_missing")),
        )
    return evolve(
        item,
        tool_name=data.get("tool_name") or item.tool_name,
        message=asked or data.get("message") or item.message,
        cwd=data.get("cwd") or item.cwd,
    )


def _find_risk(command: str | None, missing: int | None) -> str | None:
    """Return the possible risk of a tool; a command that is too long to show is never harmless."""
    if command is None:
        return None
    if missing:
        return find_risk(command.rpartition("…")[0]) or TOO_LONG
    return find_risk(command)


def summarize_tool(tool_input: Any) -> str | None:
    """Return the tool's command, else file, else address, query or description
    (protocol-approvals).
    """
    if not isinstance(tool_input, Mapping):
        return None
    key = find_summary_key(tool_input)
    return None if key is None else str(tool_input[key])


def clip_rows(rows: Sequence[str]) -> str | None:
    """Return the last rows, within the limits of protocol-approvals."""
    text = "\n".join(row.rstrip() for row in rows[-CONTEXT_LINES:]).strip("\n")
    return text[-CONTEXT_CHARS:] or None


def is_same_question(before: ApprovalItem, dialog: AgentDialog) -> bool:
    """Return true if the dialog is another page of the question of C{before}."""
    return before.kind is ItemKind.QUESTION and bool(dialog.tabs)
