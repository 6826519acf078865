"""Short-lived URLs that open one file without the page's key (protocol-file-link).

For a picture or a download, a browser sends the cookie but not the page's key, so the service
refuses the request. The URLs of this module contain a token instead. The token opens one file, with
the permissions of the user who created it.
"""

from __future__ import annotations

import json
from typing import Protocol

from attrs import frozen

from tservice.core.callers.identity import Identity

KIND = "file"
SECONDS = 600.0
"""Seconds after the last use of a token at which it expires."""


class FileCapability(Protocol):
    """Permission that a token gives: its subject is one file."""

    @property
    def subject(self) -> str: ...


class CapabilityTokens(Protocol):
    """Issuer of tokens (L{tservice.access.capabilities.CapabilityRegistry})."""

    def create_token(
        self,
        kind: str,
        subject: str,
        username: str,
        auth_session: str | None = None,
        lasts: float = ...,
    ) -> str: ...

    def find_grant(self, kind: str, token: str) -> FileCapability | None: ...


@frozen(kw_only=True)
class FileLink:
    """File that a token opens.

    @ivar download: true if the browser must save the file instead of displaying it.
    """

    session_id: str
    path: str
    download: bool


class FileLinks:
    """Registry of the tokens that open files."""

    def __init__(self, words: CapabilityTokens) -> None:
        self._words = words

    def create_token(self, link: FileLink, caller: Identity) -> str:
        """Create a token that opens C{link} with the permissions of C{caller}, and return it."""
        subject = json.dumps([link.session_id, link.path, link.download])
        return self._words.create_token(
            KIND, subject, caller.username, caller.auth_session, lasts=SECONDS
        )

    def is_valid(self, word: str) -> bool:
        """Return true if the token C{word} is still valid. The check counts as a use of the
        token.
        """
        return self._words.find_grant(KIND, word) is not None

    def find_link(self, word: str) -> FileLink | None:
        """Return the file that the token C{word} opens, or C{None} if the token is unknown or
        expired.
        """
        found = self._words.find_grant(KIND, word)
        if found is None:
            return None
        session_id, path, download = json.loads(found.subject)
        return FileLink(session_id=session_id, path=path, download=download)
