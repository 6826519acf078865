"""Classification of dialogs by their text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

from tservice.terminal.dialogs.dialog_questions import strip_drawing


class DialogKind(StrEnum):
    """Kinds of dialogs that the service must distinguish, because they are answered differently."""

    TRUST = "trust"
    PERMISSION = "permission"
    PLAN = "plan"
    QUESTION = "question"
    REVIEW = "review"
    FORM = "form"
    BYPASS = "bypass"
    API_KEY = "api-key"
    MCP = "mcp"
    NOTICE = "notice"


PHRASES = ("trustthisfolder", "trustthefiles", "oneyoutrust")
"""Phrases of a folder-trust dialog (protocol-trust), in lower case and without white space."""

_OTHER_PHRASES = re.compile(
    r"trustthe(?:contents|authors)|trustthis(?:directory|workspace|project)"
)

AFFORDANCES = ("entertoconfirm", "esctocancel", "no,exit")
"""Texts that show how a folder-trust dialog can be answered (protocol-trust)."""

_OTHER_AFFORDANCES = (
    "entercontinue",
    "entertocontinue",
    "entertoselect",
    "no,quit",
    "don'ttrust",
    "don\u2019ttrust",
)

PAGE_ROWS = 2
"""Number of rows that determine the kind of a page without options."""

_BYPASS = re.compile(r"bypass permissions mode|dangerously", re.IGNORECASE)
_ACCEPT = re.compile(r"yes, i accept|i accept", re.IGNORECASE)
# Neither a row of a table, as of /status, nor the name of a command.
_KEY = re.compile(
    r"\bAPI key\b(?!: {2})|\bauthenticat|\bsign in\b|(?<![-/])\blog ?in\b", re.IGNORECASE
)
_PROVIDER = re.compile(r"connect a model provider", re.IGNORECASE)
_MCP = re.compile(r"new mcp servers? |mcp servers? found in", re.IGNORECASE)
_PLAN = re.compile(
    r"exit plan mode|ready to code\?|here is \S+ plan|written up a plan|keep planning",
    re.IGNORECASE,
)
_REVIEW = re.compile(r"review your answers|ready to submit your answers", re.IGNORECASE)
_ASKS = re.compile(
    r"\benter to submit (?:answer|all)\b|[↑↓]+ select +enter (?:submit|confirm|toggle)\b"
)
"""Key hints below the questions of Codex and opencode."""

_SENDS = ["submit", "dismiss"]
"""Choices of the page on which opencode sends the answers to several questions."""

_FORM = re.compile(r"requests your input", re.IGNORECASE)
_PERMISSION = re.compile(
    r"(?<!what )do you want to (?!use this api key)"
    r"|would you like to (?:run|make|continue|proceed|apply|grant|allow)"
    r"|\ballow (?:execution|\S+ to |this|access)|permission required"
    r"|approve (?:tool|this)|needs permission|apply this change|△ |trust project folder\?",
    re.IGNORECASE,
)


def is_question_hint(row: str) -> bool:
    """Return true if a row shows the keys that answer a question of Codex or opencode."""
    return bool(_ASKS.search(row))


def squeeze_text(rows: Sequence[str]) -> str:
    """Return the joined rows in lower case and without white space (protocol-trust)."""
    return "".join("".join(rows).lower().split())


def contains_trust_phrase(rows: Sequence[str]) -> bool:
    """Return true if the rows contain the phrases of a folder-trust dialog (protocol-trust), or
    those of other CLIs.
    """
    text = squeeze_text(rows)
    said = any(phrase in text for phrase in PHRASES) or _OTHER_PHRASES.search(text)
    return bool(said) and any(word in text for word in (*AFFORDANCES, *_OTHER_AFFORDANCES))


def classify_dialog(
    text: Sequence[str], footer: Sequence[str], labels: Sequence[str], tabbed: bool
) -> DialogKind:
    """Return the kind of a dialog.

    @param text: the rows of the dialog above its options.
    @param footer: the rows below the options.
    @param labels: the labels of the options.
    @param tabbed: the first row shows the tabs of a question dialog.
    """
    provider = any(map(_PROVIDER.search, text))
    if not labels:
        # A page or a field: below its first rows there may be any text, such as the titles of
        # conversations.
        text, footer = [row for row in text if strip_drawing(row)][:PAGE_ROWS], ()
    said, choices = " ".join(text), " ".join(labels)
    if tabbed or _REVIEW.search(said):
        return DialogKind.REVIEW if _REVIEW.search(said) else DialogKind.QUESTION
    if list(labels) == _SENDS:
        return DialogKind.REVIEW
    if labels and any(map(is_question_hint, footer)):
        # Their words are the agent's, and may be those of any other dialog.
        return DialogKind.QUESTION
    tests = (
        (DialogKind.TRUST, _asks_for_trust(text, footer, labels)),
        (DialogKind.BYPASS, bool(_BYPASS.search(said) and _ACCEPT.search(choices))),
        (DialogKind.FORM, bool(_FORM.search(said))),
        (DialogKind.MCP, bool(_MCP.search(said))),
        (DialogKind.PLAN, bool(_PLAN.search(said) or "keep planning" in choices.lower())),
        (DialogKind.PERMISSION, bool(_PERMISSION.search(said))),
        (DialogKind.API_KEY, provider or bool(_KEY.search(said))),
        (DialogKind.QUESTION, any("Enter to select" in row for row in footer)),
    )
    return next((kind for kind, holds in tests if holds), DialogKind.NOTICE)


def _asks_for_trust(text: Sequence[str], footer: Sequence[str], labels: Sequence[str]) -> bool:
    """Return true if a dialog with the phrases of protocol-trust really asks for trust.

    The content of a permission dialog may quote all these phrases. So one of three conditions must
    hold: an option says "trust", the last text before the options is the trust question, or an
    option ends the client. No dialog about a tool has such options.
    """
    if not contains_trust_phrase([*text, *labels, *footer]):
        return False
    if not (any(map(is_decline_label, labels)) and any(map(is_trust_label, labels))):
        return False
    if any(map(_TRUST_LABEL.fullmatch, labels)):
        return True
    ends = any(map(_END_LABEL.fullmatch, labels))
    said = [row for row in text if row.strip(" \u2502")]
    return bool(_TRUST_QUESTION.search(" ".join(" ".join(said if ends else said[-1:]).split())))


_TRUST_LABEL = re.compile(r"(?:yes, )?(?:i |we )?trust\b.{0,60}", re.IGNORECASE)
_TRUST_QUESTION = re.compile(
    r"do you trust (?:the (?:files|authors|contents)"
    r"|this (?:folder|directory|workspace|project))\b",
    re.IGNORECASE,
)
_YES_LABEL = re.compile(
    r"yes(?:, (?:proceed|continue)|, and remember this folder.*)?", re.IGNORECASE
)
_LEAVE_LABEL = re.compile(
    r"no(?:\b(?!t).{0,30})?|don.t trust\b.*|do not trust\b.*|(?:exit|quit|cancel|back)\b.*",
    re.IGNORECASE,
)
_END_LABEL = re.compile(r"(?:no, )?(?:exit|quit)\b.{0,20}", re.IGNORECASE)
_PARENT_LABEL = re.compile(r".*\bparent\b.*", re.IGNORECASE)


def is_decline_label(label: str) -> bool:
    """Return true if an option of a trust or permission dialog declines."""
    return bool(_LEAVE_LABEL.fullmatch(label))


def is_trust_label(label: str) -> bool:
    """Return true if an option of a trust dialog trusts this folder and nothing else."""
    said = _TRUST_LABEL.fullmatch(label) or _YES_LABEL.fullmatch(label)
    return bool(said) and not is_decline_label(label) and not _PARENT_LABEL.fullmatch(label)
