"""Errors of the service and of C{tsctl}. The module imports nothing that is slow to import."""

from __future__ import annotations

import json
from typing import Any

FAULT_LENGTH = 500
"""Number of characters that are shown of a response that is not an envelope."""


class Unusable(Exception):
    """Error for a request that C{tsctl} cannot fulfil. Its text is one line for the user."""


class ApiError(Exception):
    """Error response of the service.

    @ivar status: HTTP status.
    @ivar code: C{errorCode} of the response. C{None} for a plain text response with 401, 403 or
        429, sent before the request was processed.
    """

    def __init__(self, status: int, code: str | None, message: str) -> None:
        super().__init__(f"{status} {code or ''}: {message}".replace(" :", ":"))
        self.status, self.code, self.message = status, code, message


def unwrap_envelope(status: int, content: bytes) -> Any:
    """Return the payload of a response.

    @raise ApiError: the response is not a success.
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
