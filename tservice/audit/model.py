"""Entries of the audit log, and the limits of its retention."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from tservice.core.kernel.errors import ErrorCode

ORDINARY, SIGN_INS = "ordinary", "sign-ins"
BOUNDS = {
    ORDINARY: 100_000,
    SIGN_INS: 20_000,
    "rights": 20_000,
    "tokens": 20_000,
    "approvals": 20_000,
    "deletions": 20_000,
}
"""Maximum number of entries in each part of the log; one actor has at most half of a part."""

_SIGN_INS = frozenset(
    {"login", "login.failed", "login.locked", "POST /api/logout", "POST /api/auth/revoke"}
)
_REFUSALS = frozenset(
    code.value
    for code in ErrorCode
    if code not in (ErrorCode.OPERATION_FAILED, ErrorCode.INTERNAL_ERROR)
)
"""Codes of errors after which nothing was changed."""

_PATHS = (
    ("/api/tokens", "tokens"),
    ("/api/approvals/{item}/", "approvals"),
    ("/api/approval-rules", "approvals"),
    ("/api/admin/", "rights"),
    ("/api/me/password", "rights"),
    ("/api/settings", "rights"),
)

RULE_ANSWER = "approval.rule"
"""Action of an answer that a rule gave to an agent."""

LONGEST_WORD = 256
LONGEST_DETAIL = 2000
"""Limits in characters on each text of an entry, and on its detail as JSON.

Callers choose some of these texts.
"""


@frozen(kw_only=True)
class AuditEntry:
    """Record of one action.

    @ivar actor: the user name; empty for an unauthenticated caller.
    @ivar method: the actor's kind of authentication: C{cookie}, C{basic}, C{token} or C{none}.
    @ivar action: C{METHOD /path} of an operation, or another name such as C{login}.
    @ivar target: the session, user or other object of the action.
    @ivar detail: further data, which never holds a typed text or a secret.
    """

    action: str
    actor: str = ""
    method: str = "none"
    address: str = ""
    target: str = ""
    detail: Mapping[str, Any] = field(factory=dict)

    def column_values(self) -> dict[str, str]:
        """Return the values of the table's columns by name.

        Texts are cut to L{LONGEST_WORD}, and characters that cannot be stored are replaced.  A
        detail that is too long is replaced by its length.
        """
        words = {
            name: _replace_unstorable_characters(getattr(self, name))[:LONGEST_WORD]
            for name in ("actor", "method", "address", "action", "target")
        }
        detail = json.dumps(dict(self.detail), sort_keys=True)
        if len(detail) > LONGEST_DETAIL:
            detail = json.dumps({"tooLong": len(detail)})
        return {**words, "detail": detail, "part": self.part}

    @property
    def part(self) -> str:
        """Part of the log that keeps the entry; refused requests belong to the ordinary part."""
        if self.action in _SIGN_INS:
            return SIGN_INS
        if self.action == RULE_ANSWER:
            return "approvals"
        method, _, path = self.action.partition(" ")
        if self.detail.get("error") in _REFUSALS:
            return ORDINARY
        found = next((part for start, part in _PATHS if path.startswith(start)), None)
        return found or ("deletions" if method == "DELETE" else ORDINARY)


def _replace_unstorable_characters(word: str) -> str:
    return word.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")
