"""Texts that people and programs give and that are shown again."""

import re

LINE = r"[^\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]*"
"""A regular expression: one line without control characters, those that force a direction of
writing included."""

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
