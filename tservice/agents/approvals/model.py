"""Records of the approval inbox, and the rules that fill them (protocol-approvals).

This module does no I/O.
"""

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
from tservice.core.values.text import cut_between_letters, cut_with_note
from tservice.terminal.dialogs.dialog_kinds import DialogKind as DialogKind
from tservice.terminal.dialogs.dialog_kinds import contains_trust_phrase
from tservice.terminal.dialogs.dialogs import CONTEXT_CHARS, CONTEXT_ROWS, AgentDialog

LIFETIME_MS = 12 * 3600 * 1000
"""Milliseconds until an item expires (protocol-approvals)."""
MEMORY_MS = 60 * 1000
"""Milliseconds for which a resolution other than an answer is remembered for late answers
(protocol-approvals).
"""
FOLDER_TOOL = "commands of its folder"
"""Value of C{toolName} for a question about a working folder."""
FOLDER_HINT = "Runs or permits something unasked, as soon as the session starts"
TOO_LONG = "Is too long to be shown completely"

_ESCAPE = re.compile(
    r"\besc(?:ape)?\b(?: to)? (?:cancel|clear|close|back|exit|go back)", re.IGNORECASE
)

QUESTION_TOOL = "AskUserQuestion"
SHELL_TOOL = "Shell"
"""Tool of a command that no hook reported. No approval rule answers it."""
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
PLAN_TOOL = "ExitPlanMode"


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

    @ivar selected: the option is highlighted.
    @ivar checked: true if the option's box is ticked; C{None} if it has no box.
    @ivar description: the dialog's text about the option, apart from its label.
    """

    n: int
    label: str
    selected: bool
    checked: bool | None = None
    description: str | None = None


@frozen(kw_only=True)
class ApprovalItem:
    """Pending item of the inbox.

    @ivar owner: account that owns the item's session; not part of responses, because the session's
        record contains it.
    @ivar frame: hash of the dialog as captured; L{IDLE_FRAME} if there is no dialog.
    @ivar tool_digest: digest of all inputs of the tool; C{None} if no hook reported it.
    @ivar tool_missing: number of characters of the tool's summary that are not stored.
    @ivar tool_other: names of further inputs of the tool.
    @ivar seen_command: the command that the dialog itself shows.
    @ivar seen_whole: C{seen_command} is complete.
    @ivar context_above: number of rows of the dialog above C{context}.
    @ivar risk_hint: description of a possible risk.
    @ivar dialog: kind of the dialog on the screen; C{None} if there is no dialog.
    @ivar plan: plan of an agent that asks to leave its plan mode, as Markdown.
    @ivar folder_digest: digest of the files in the session's folder that can make an agent run
        something; C{None} if the item is no question about a folder.
    @ivar folder_lasting: the answer about the folder may be remembered.
    @ivar acknowledged_at: Unix milliseconds at which a user viewed the idle session; C{None}
        before.
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
    dialog: str | None = None
    plan: str | None = None
    folder_digest: str | None = None
    folder_lasting: bool = False

    @property
    def tool_identity(self) -> tuple[str | None, str | None, str | None]:
        """Name of the tool, its summary, and the digest of its inputs."""
        return self.tool_name, self.tool_summary, self.tool_digest

    @property
    def shown_frame(self) -> str:
        """Value of C{frame} for clients; it also changes if the same rows show another command."""
        if self.tool_digest is None:
            return self.frame
        return hashlib.sha256(f"{self.frame} {self.tool_digest}".encode()).hexdigest()[:32]

    @property
    def complete(self) -> bool | None:
        """True if a permission item shows everything that it covers; C{None} for other items."""
        if self.kind is not ItemKind.PERMISSION:
            return None
        if self.tool_name is None:
            return self.seen_whole
        return self.tool_digest is not None and not self.tool_missing and not self.tool_other

    @property
    def expires_at(self) -> int:
        """Time at which the item expires, in Unix milliseconds."""
        return self.created_at + LIFETIME_MS


def makes_item(dialog: AgentDialog | None) -> bool:
    """Return true if a person has to answer the dialog.

    An agent raised it in a turn, a command opened it, or the agent offers a choice before its first
    prompt: trust, a way to sign in, a notice.
    """
    if dialog is None:
        return False
    return is_raised(dialog) or is_picker(dialog) or len(dialog.options) > 1


def is_raised(dialog: AgentDialog | None) -> bool:
    """Return true if an agent raised the dialog in a turn."""
    return dialog is not None and dialog.kind in ASKING


def is_picker(dialog: AgentDialog) -> bool:
    """Return true if the dialog is one of the agent's own menus or pages, which Escape closes
    (protocol-prompts).
    """
    # At its start an agent asks if a key may be used, and a command offers ways to sign in.
    offers = dialog.kind is DialogKind.API_KEY and dialog.question is None
    if not (offers or dialog.kind is DialogKind.NOTICE) or contains_trust_phrase(dialog.context):
        return False
    return any(_ESCAPE.search(row) for row in dialog.context)


def choose_item_kind(dialog: AgentDialog, tool_name: str | None) -> ItemKind:
    """Return the kind of item for a dialog, question or permission (protocol-approvals).

    The tool decides if it is known, otherwise the screen. A dialog whose upper rows are cut off
    looks like a menu, but a known tool proves that it is a permission dialog.
    """
    asks = dialog.kind in (DialogKind.QUESTION, DialogKind.REVIEW, DialogKind.FORM) or (
        tool_name is None and is_picker(dialog)
    )
    return ItemKind.QUESTION if asks or tool_name == QUESTION_TOOL else ItemKind.PERMISSION


def update_from_dialog(item: ApprovalItem, dialog: AgentDialog) -> ApprovalItem:
    """Return the item updated to the current dialog.

    For a question, and for a dialog without a hook, the item's message is the question on the
    screen.
    """
    kind = choose_item_kind(dialog, item.tool_name)
    itself = _has_no_hook_description(item, dialog)
    said = dialog.question or (dialog.title if itself else "")
    own = kind is ItemKind.QUESTION or itself or item.message is None
    asked = cut_with_note(said, MESSAGE_CHARS) if own else ""
    command = dialog.command
    text = None if command is None else command.text
    hint = find_screen_risk(dialog.context) if text is None else find_risk(text, wrapped=True)
    return evolve(
        item,
        kind=kind,
        dialog=dialog.kind.value,
        message=asked or item.message,
        frame=dialog.frame_hash,
        context=clip_rows(dialog.context),
        context_above=dialog.above,
        options=make_item_options(dialog),
        seen_command=text,
        seen_whole=command is not None and command.whole,
        risk_hint=hint if item.tool_digest is None else item.risk_hint,
    )


def update_from_folder(item: ApprovalItem, working_dir: str, found: FolderFinding) -> ApprovalItem:
    """Return the item as a question about a folder whose files can make an agent run something."""
    summary = found.format_summary()
    kept = cut_between_letters(summary, SHOWN_CHARS)
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
        risk_hint=FOLDER_HINT if found.needs_question else None,
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


def _has_no_hook_description(item: ApprovalItem, dialog: AgentDialog) -> bool:
    """Return true if no hook describes the dialog, so that the item uses the text on the screen."""
    starts = item.tool_name is None and not is_raised(dialog)
    return starts or is_picker(dialog) or dialog.kind in (DialogKind.PLAN, DialogKind.REVIEW)


def update_from_hook(item: ApprovalItem, data: Mapping[str, Any]) -> ApprovalItem:
    """Return the item updated from a hook's data; missing fields keep their values.

    The text of a question on the screen is kept too, because its hook only reports that the agent
    waits.
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
        if data.get("tool_name") == PLAN_TOOL:
            item = evolve(item, plan=data["tool_input"].get("plan"))
    return evolve(
        item,
        tool_name=data.get("tool_name") or item.tool_name,
        message=asked or data.get("message") or item.message,
        cwd=data.get("cwd") or item.cwd,
    )


def _find_risk(command: str | None, missing: int | None) -> str | None:
    """Return the possible risk of a tool's command; C{None} if there is none.

    A command that is too long to be shown always counts as a risk.

    @param missing: number of characters of the command that are not stored.
    """
    if command is None:
        return None
    if missing:
        return find_risk(command.rpartition("…")[0]) or TOO_LONG
    return find_risk(command)


def summarize_tool(tool_input: Any) -> str | None:
    """Return the input that summarizes a tool's action (protocol-approvals).

    This is the first that exists of command, file, address, query and description.
    """
    if not isinstance(tool_input, Mapping):
        return None
    key = find_summary_key(tool_input)
    return None if key is None else str(tool_input[key])


def clip_rows(rows: Sequence[str]) -> str | None:
    """Return the last rows, joined and cut to the limits of protocol-approvals."""
    text = "\n".join(row.rstrip() for row in rows[-CONTEXT_ROWS:]).strip("\n")
    return text[-CONTEXT_CHARS:] or None


def is_same_question(before: ApprovalItem, dialog: AgentDialog) -> bool:
    """Return true if the dialog is another page of the question in the item C{before}."""
    return before.kind is ItemKind.QUESTION and bool(dialog.tabs)
