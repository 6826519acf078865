"""Short-lived addresses that open one file (protocol-file-link).

A request that a browser makes by itself, for a picture or a download, has a cookie but no key of
the page.  Therefore it is refused.  A token in the path opens the one file, with the rights of its
creator.
"""

from __future__ import annotations

import json
from typing import Protocol

from attrs import frozen

from tservice.core.identity import Identity

KIND = "file"
SECONDS = 600.0
"""Seconds after its last use at which a token expires."""


class FileCapability(Protocol):
    """Subject of a token."""

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

    @ivar download: the file is to be saved, not shown.
    """

    session_id: str
    path: str
    download: bool


class FileLinks:
    """Registry of tokens for files."""

    def __init__(self, words: CapabilityTokens) -> None:
        self._words = words

    def create_token(self, link: FileLink, caller: Identity) -> str:
        """Return a new token for C{link}."""
        subject = json.dumps([link.session_id, link.path, link.download])
        return self._words.create_token(
            KIND, subject, caller.username, caller.auth_session, lasts=SECONDS
        )

    def is_valid(self, word: str) -> bool:
        """Return true if C{word} is still valid; the check counts as a use."""
        return self._words.find_grant(KIND, word) is not None

    def find_link(self, word: str) -> FileLink | None:
        """Return the link of C{word}; C{None} if it is unknown or expired."""
        found = self._words.find_grant(KIND, word)
        if found is None:
            return None
        session_id, path, download = json.loads(found.subject)
        return FileLink(session_id=session_id, path=path, download=download)
