"""Addresses that open one file for a little while (protocol-file-link).

What a browser fetches by itself, a picture or a download, carries a cookie but no key of the page,
and so opens nothing.  Such a word in the path opens the one file, in its maker's name.
"""

from __future__ import annotations

import json
from typing import Protocol

from attrs import frozen

from tservice.core.identity import Identity

KIND = "file"
SECONDS = 600.0
"""A word ends so long after its last use."""


class FileCapability(Protocol):
    """What a word opens."""

    @property
    def subject(self) -> str: ...


class CapabilityWords(Protocol):
    """Makes and knows words (L{tservice.access.capabilities.CapabilityRegistry})."""

    def mint(
        self,
        kind: str,
        subject: str,
        username: str,
        auth_session: str | None = None,
        lasts: float = ...,
    ) -> str: ...

    def find(self, kind: str, word: str) -> FileCapability | None: ...


@frozen(kw_only=True)
class FileLink:
    """What a word opens.

    @ivar download: to be saved, not shown.
    """

    session_id: str
    path: str
    download: bool


class Links:
    """Makes addresses and finds what they open."""

    def __init__(self, words: CapabilityWords) -> None:
        self._words = words

    def make(self, link: FileLink, caller: Identity) -> str:
        """A word for C{link}."""
        subject = json.dumps([link.session_id, link.path, link.download])
        return self._words.mint(KIND, subject, caller.username, caller.auth_session, lasts=SECONDS)

    def holds(self, word: str) -> bool:
        """Whether C{word} still opens something; to ask is to use it."""
        return self._words.find(KIND, word) is not None

    def find(self, word: str) -> FileLink | None:
        """What C{word} opens; C{None}: nothing, any more."""
        found = self._words.find(KIND, word)
        if found is None:
            return None
        session_id, path, download = json.loads(found.subject)
        return FileLink(session_id=session_id, path=path, download=download)
