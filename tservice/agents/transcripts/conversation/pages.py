"""Pages of a conversation, and the reader that provides them.

This module does no I/O.
"""

from __future__ import annotations

from typing import Protocol

from attrs import frozen

from tservice.agents.transcripts.conversation.items import ConversationItem

PAGE = 500
"""Maximum items of a page."""
PAGE_CHARS = 2 * 1024 * 1024
"""Characters of a page's items, beyond which it ends."""
CHANGED = 50
"""Maximum ids of changed items that an event names."""


@frozen(kw_only=True)
class PageRequest:
    """Part of a conversation that is requested.

    @ivar after: cursor; the items that are new or changed since then. C{None} for no such limit.
    @ivar before: position; only items before it.
    """

    after: str | None = None
    before: int | None = None
    limit: int = 100


@frozen(kw_only=True)
class ConversationPage:
    """Items in the order of the conversation.

    @ivar cursor: cursor for the items that will be new or changed after this page.
    @ivar has_more: there are earlier items, or after a cursor further changes.
    @ivar is_reset: the content before the cursor of the request is gone; this is the newest page.
    @ivar is_cut: the beginning of the conversation is too long ago, and cannot be read.
    """

    items: tuple[ConversationItem, ...]
    cursor: str
    has_more: bool = False
    is_reset: bool = False
    is_cut: bool = False


@frozen(kw_only=True)
class ConversationChange:
    """Change of a followed conversation.

    @ivar changed: ids of the changed items, the newest L{CHANGED}.
    """

    cursor: str
    changed: tuple[str, ...] = ()


class ConversationReader(Protocol):
    """Reader of one conversation; call it from one thread at a time."""

    @property
    def weight(self) -> int:
        """Approximate memory in indexed items."""

    def read_more(self) -> bool:
        """Read a part of what is new.

        @return: true if there is more to read at once.
        @raise OSError: the conversation cannot be read.
        """

    def read_page(self, wanted: PageRequest) -> ConversationPage:
        """Return a page of what was read so far.

        @raise OSError: the conversation cannot be read.
        """

    def read_item(self, item_id: str) -> ConversationItem | None:
        """Return a whole item; C{None} without one.

        @raise OSError: the conversation cannot be read.
        """

    def take_change(self) -> ConversationChange | None:
        """Return what changed since the last call; C{None} if nothing did."""
