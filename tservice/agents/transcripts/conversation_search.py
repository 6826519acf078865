"""Search for text in conversations, and the count of their turns; call it from a thread."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import suppress

from attrs import frozen

from tservice.agents.transcripts.conversation_access import iterate_messages, read_beginning
from tservice.agents.transcripts.conversation_stores import StoredConversation
from tservice.agents.transcripts.model import TranscriptTally
from tservice.core.values.text import cut_between_letters, is_combining_character

SEARCHED = 2_000
"""Maximum number of conversations in one search; the newest are searched."""
SEARCHED_BYTES = 512 * 1024 * 1024
SEARCHED_EACH = 64 * 1024 * 1024
"""Maximum bytes of one conversation that a search reads, from its start."""
SEARCH_SECONDS = 5.0
HITS = 200
COUNTED = 4 * 1024 * 1024
"""Bytes of a conversation, from its start, in which turns are counted."""
BEFORE, AROUND = 60, 180
"""Characters of an excerpt before the match, and in total."""

_UNESCAPED = re.compile(rb"[a-z0-9 _.,:;-]+")
"""Pattern of characters that no JSON writer escapes."""


@frozen(kw_only=True)
class ConversationHit:
    """Conversation that matches a search.

    @ivar excerpt: the text around the match; C{None} if only the name of the folder matches.
    """

    found: StoredConversation
    begins: TranscriptTally
    excerpt: str | None


@frozen(kw_only=True)
class ConversationSearchResult:
    """Result of a search.

    @ivar complete: no conversation was left out because of a limit.
    """

    hits: tuple[ConversationHit, ...]
    complete: bool


def search_transcripts(
    found: Iterable[StoredConversation],
    words: str,
    seen: Callable[[TranscriptTally], bool],
    seconds: Callable[[], float],
) -> ConversationSearchResult:
    """Return the conversations that contain the text C{words}, ignoring case, in the order of
    C{found}.

    @param seen: returns true if the caller may see a conversation, given the tally of its
        beginning.
    @param seconds: the clock for L{SEARCH_SECONDS}.
    """
    wanted, end, left = words.lower(), seconds() + SEARCH_SECONDS, SEARCHED_BYTES
    hits: list[ConversationHit] = []
    for number, each in enumerate(found):
        if number >= SEARCHED or len(hits) >= HITS or seconds() > end:
            return ConversationSearchResult(hits=tuple(hits), complete=False)
        begins = read_beginning(each.path, each.mode)
        if not seen(begins):
            # Nothing about other users' conversations may leak, not even through the time this
            # takes.
            continue
        left -= min(each.size, SEARCHED_EACH)
        if left < 0:
            return ConversationSearchResult(hits=tuple(hits), complete=False)
        excerpt = _find_excerpt(each, wanted)
        if excerpt is not None or wanted in (begins.cwd or "").lower():
            hits.append(ConversationHit(found=each, begins=begins, excerpt=excerpt))
    return ConversationSearchResult(hits=tuple(hits), complete=True)


def count_turns(found: StoredConversation) -> int:
    """Return the number of prompts in a conversation's first L{COUNTED} bytes; 0 if it cannot be
    read.
    """
    with suppress(OSError):
        said = iterate_messages(found.path, found.mode, COUNTED, _may_be_prompt)
        return sum(each.role == "user" for each in said)
    return 0


def make_excerpt(text: str, wanted: str) -> str | None:
    """Return one line of text around the first match of C{wanted}; C{None} without a match.

    @param wanted: the text to find, in lower case.
    """
    at = text.lower().find(wanted)
    if at < 0:
        return None
    start = max(0, at - BEFORE)
    while start and is_combining_character(text[start]):
        start -= 1
    cut = " ".join(cut_between_letters(text[start:], AROUND).split())
    return f"{'…' if start else ''}{cut}{'…' if start + AROUND < len(text) else ''}"


def make_line_filter(wanted: str) -> Callable[[bytes], bool]:
    """Return a fast function that rejects lines of JSON that cannot contain C{wanted}.

    So only few lines have to be parsed.
    """
    runs = _UNESCAPED.findall(wanted.encode())
    longest = max(runs, key=len, default=b"")
    return lambda line: longest in line.lower()


def _find_excerpt(found: StoredConversation, wanted: str) -> str | None:
    with suppress(OSError):
        for each in iterate_messages(
            found.path, found.mode, SEARCHED_EACH, make_line_filter(wanted)
        ):
            excerpt = make_excerpt(each.text, wanted)
            if excerpt is not None:
                return excerpt
    return None


def _may_be_prompt(line: bytes) -> bool:
    return b"user" in line or b"User" in line
