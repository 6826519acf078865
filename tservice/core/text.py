"""Texts that people and programs give and that are shown again."""

import re
import unicodedata

LINE = r"[^\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]*"
"""A regular expression: one line without control characters, those that force a direction of
writing included."""

CASE_NAME = r"[^\x00-\x2c./\x3a-\x40\x5b-\x5e\x60\x7b-\x9f\u2028\u2029]+"
"""A regular expression: what may be the name of a case that is there (protocol-cases)."""

JOINERS = "\u200c\u200d"
"""Signs that are not printed and yet part of words: Persian has them, and many emoji."""

_MARKS = ("Mn", "Mc", "Me")

_HARMFUL = re.compile(
    # Control characters but tab and line feed: terminals act on them.
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f"
    # Directions of writing that are forced on what follows: the order that is read is not the one
    # that runs.  Marks of right-to-left scripts are not among them.
    r"\u202a-\u202e\u2066-\u2069"
    # Halves of surrogate pairs: no encoding takes them.
    r"\ud800-\udfff]"
)


def defused(text: str) -> str:
    """A program's words, of several lines perhaps, without what does harm where they are shown.

    Each such character becomes U+FFFD, so that a text which hid something does not look innocent.
    """
    return _HARMFUL.sub("\ufffd", text)


VERSION_LENGTH = 40
"""Characters of a version."""


def version_in(pattern: str, printed: str) -> str | None:
    """The version in what a program printed: the one group of C{pattern} (protocol-clis)."""
    found = re.search(pattern, printed, re.MULTILINE)
    return None if found is None or not found[1] else found[1][:VERSION_LENGTH]


def is_mark(character: str) -> bool:
    """Return whether C{character} belongs to the one before: accents, vowel signs, joiners."""
    return unicodedata.category(character) in _MARKS or character in JOINERS


def cut_between(text: str, limit: int) -> str:
    """Return at most C{limit} characters of C{text}; no letter loses its accent or vowel sign."""
    if len(text) <= limit:
        return text
    end = limit
    while end > 0 and (is_mark(text[end]) or text[end - 1] in JOINERS):
        end -= 1
    return text[: end or limit]


def shorten(text: str, limit: int) -> str:
    """Return C{text} in at most C{limit} characters; a longer one ends in an ellipsis.

    It is cut at a blank where one stands in the last third.  Many languages write none, or few.
    """
    if len(text) <= limit:
        return text
    cut = cut_between(text, limit - 1)
    words = cut.rpartition(" ")[0]
    kept = words if len(words) * 3 >= limit * 2 else cut
    return f"{kept.rstrip()}…"


MARK_LENGTH = 32
"""Characters that the mark of L{cut_marked} takes at most."""


def kept_of(text: str, limit: int) -> str:
    """Return what L{cut_marked} leaves of C{text}."""
    return text if len(text) <= limit else cut_between(text, limit - MARK_LENGTH)


def cut_marked(text: str, limit: int) -> str:
    """Return C{text} in at most C{limit} characters; a longer one ends in how many are missing."""
    kept = kept_of(text, limit)
    missing = len(text) - len(kept)
    return f"{kept}… ({missing} more characters)" if missing else text


def ascii_word(text: str) -> str:
    """Return C{text} in small ASCII letters and digits, with C{-} for all others.

    Accents are left out; what has no ASCII letter gives nothing.
    """
    plain = unicodedata.normalize("NFKD", text.casefold())
    letters = "".join(each for each in plain if not is_mark(each))
    return re.sub(r"[^a-z0-9]+", "-", letters).strip("-")
