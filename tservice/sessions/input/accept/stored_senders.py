"""Conversion of the sender of buffered input to and from its stored form.

Only the data needed to authorize the sender again is written: the permission to type into one
session.
"""

from __future__ import annotations

import json

from attrs import evolve

from tservice.core.callers.identity import Identity
from tservice.core.kernel.scopes import Scope

NOBODY = Identity(username="", admin=False, method="unknown", can_bypass_permissions=False)
"""Identity without permissions, for input without a stored sender."""


def dump_sender(sender: Identity | None) -> str | None:
    """Return C{sender} as JSON; C{None} for the service itself."""
    if sender is None:
        return None
    return json.dumps(
        {
            "username": sender.username,
            "admin": sender.admin,
            "method": sender.method,
            "can_bypass_permissions": sender.can_bypass_permissions,
            "auth_session": sender.auth_session,
            "token": sender.token,
            "parent": sender.parent,
            "os_user": sender.os_user,
        }
    )


def load_sender(text: str | None, session_id: str) -> Identity:
    """Return the stored sender, with no permission except to type into the session."""
    if text is None:
        return NOBODY
    typing, here = frozenset({str(Scope.SESSIONS_INPUT)}), frozenset({session_id})
    return evolve(Identity(**json.loads(text)), scopes=typing, sessions=here)
