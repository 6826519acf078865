"""Errors of the service and of C{tsctl}.  Imports nothing heavy."""

from __future__ import annotations

import json
from typing import Any

FAULT_LENGTH = 500
"""Characters shown of an answer that is not an envelope."""


class Unusable(Exception):
    """C{tsctl} cannot do what was requested; the text is one line for a person."""


class ApiError(Exception):
    """Refusal by the service.

    @ivar status: the HTTP status.
    @ivar code: the C{errorCode}; C{None} for plain text: 401, 403 and 429 of the gate.
    """

    def __init__(self, status: int, code: str | None, message: str) -> None:
        super().__init__(f"{status} {code or ''}: {message}".replace(" :", ":"))
        self.status, self.code, self.message = status, code, message


def unwrap_envelope(status: int, content: bytes) -> Any:
    """Return the payload of an answer.

    @raise ApiError: the answer is no success.
    """
    text = content.decode("utf-8", "replace")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise ApiError(status, None, text[:FAULT_LENGTH]) from None
    if status // 100 == 2 and isinstance(found, dict) and found.get("success") is True:
        return found.get("data")
    if isinstance(found, dict) and found.get("success") is False:
        raise ApiError(status, str(found.get("errorCode")), str(found.get("error")))
    raise ApiError(status, None, text[:FAULT_LENGTH])
