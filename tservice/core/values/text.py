"""Checks and shortening of texts from users and programs that are displayed later."""

import re
import unicodedata

LINE = r"[^\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]*"
"""Regular expression for one line without control characters.

Characters that force the writing direction are excluded too.
"""

CASE_NAME = r"[^\x00-\x2c./\x3a-\x40\x5b-\x5e\x60\x7b-\x9f\u2028\u2029]+"
"""Regular expression for the name of an existing case (protocol-cases)."""

JOINERS = "\u200c\u200d"
"""Invisible characters that join letters in Persian, and parts of many emoji."""

_MARKS = ("Mn", "Mc", "Me")

_HARMFUL = re.compile(
    # Control characters except tab and line feed: terminals interpret them.
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f"
    # Overrides of the writing direction: the displayed order differs from the executed one.
    # Marks of right-to-left scripts are allowed.
    r"\u202a-\u202e\u2066-\u2069"
    # Lone surrogates: no encoding accepts them.
    r"\ud800-\udfff]"
)


def replace_harmful_characters(text: str) -> str:
    """Return C{text}, possibly of several lines, with each harmful character replaced by U+FFFD.

    The replacement stays visible, so that a manipulated text does not look innocent.
    """
    return _HARMFUL.sub("\ufffd", text)


VERSION_LENGTH = 40
"""Limit on a version in characters."""


def find_version(pattern: str, printed: str) -> str | None:
    """Return the version in a program's output, the first group of C{pattern} (protocol-clis).

    @return: C{None} if the pattern does not match.
    """
    found = re.search(pattern, printed, re.MULTILINE)
    return None if found is None or not found[1] else found[1][:VERSION_LENGTH]


def is_combining_character(character: str) -> bool:
    """Return whether C{character} modifies the preceding one: accents, vowel signs, joiners."""
    return unicodedata.category(character) in _MARKS or character in JOINERS


def cut_between_letters(text: str, limit: int) -> str:
    """Return at most C{limit} characters of C{text} without splitting a letter from its accent or
    vowel sign.
    """
    if len(text) <= limit:
        return text
    end = limit
    while end > 0 and (is_combining_character(text[end]) or text[end - 1] in JOINERS):
        end -= 1
    return text[: end or limit]


def shorten_text(text: str, limit: int) -> str:
    """Return C{text} in at most C{limit} characters; a longer text ends in an ellipsis.

    The text is cut at a blank if there is one in the last third, because many languages use few
    blanks.
    """
    if len(text) <= limit:
        return text
    cut = cut_between_letters(text, limit - 1)
    words = cut.rpartition(" ")[0]
    kept = words if len(words) * 3 >= limit * 2 else cut
    return f"{kept.rstrip()}…"


MARK_LENGTH = 32
"""Maximum length of the note that L{cut_with_note} appends to a cut text."""


def get_kept_part(text: str, limit: int) -> str:
    """Return the part of C{text} that L{cut_with_note} keeps, without the note."""
    return text if len(text) <= limit else cut_between_letters(text, limit - MARK_LENGTH)


def cut_with_note(text: str, limit: int) -> str:
    """Return C{text} in at most C{limit} characters; a cut text ends in a note.

    The note gives the number of missing characters.
    """
    kept = get_kept_part(text, limit)
    missing = len(text) - len(kept)
    return f"{kept}… ({missing} more characters)" if missing else text


def make_ascii_slug(text: str) -> str:
    """Return C{text} in lower-case ASCII letters and digits, with C{-} for all other characters.

    Accents are dropped; letters without an ASCII equivalent are omitted.
    """
    plain = unicodedata.normalize("NFKD", text.casefold())
    letters = "".join(each for each in plain if not is_combining_character(each))
    return re.sub(r"[^a-z0-9]+", "-", letters).strip("-")
