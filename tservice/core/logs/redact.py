"""Removal of secrets from text before it is logged or shown."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from urllib.parse import quote

MARK = "[redacted]"
MOST_SECRETS = 1000
_SHORT = 4

_PATTERNS = (
    re.compile(
        r"(?i)(authorization['\"]?\s*[:=]\s*[^\w]{0,3}(?:basic|bearer|digest)\s+)[^\s'\",;)]+"
    ),
    re.compile(r"(?i)(x-service-hook-secret['\"]?\s*[:=]\s*[^\w]{0,3})[^\s'\",;)\]]+"),
    re.compile(r"(?i)(x-service-key['\"]?\s*[:=]\s*[^\w]{0,3})[^\s'\",;)\]]+"),
    re.compile(r"(service_session=)[^\s'\";,]+"),
    re.compile(r"(#key=|\bkey\.(?:qr-)?)[0-9a-f]{64}"),
    # One character of the scheme is enough.  Searching for its beginning in a long word would
    # take quadratic time while the interpreter lock is held.
    re.compile(r"([\w+.-]://)[^\s/@'\"]++(?=@)"),
    re.compile(r"(/q/)[A-Za-z0-9]{6}(?![A-Za-z0-9])"),
    re.compile(r"(tsk_)[A-Za-z0-9_-]{20,}"),
    re.compile(r"(/webview/)[A-Za-z0-9_-]{16,}"),
)
"""Patterns that match secrets by their form; the first group of each is kept in the text."""


class SecretRedactor:
    """Replaces known secret values, and text that looks like a secret, by L{MARK}.

    At most L{MOST_SECRETS} values are known.  Beyond that the oldest value is dropped; the patterns
    may still match it.
    """

    def __init__(self) -> None:
        self._forms: dict[str, tuple[str, ...]] = {}
        self._known: re.Pattern[str] | None = None
        self._stale = False

    def register_secret(self, secret: str) -> Callable[[], None]:
        """Hide C{secret} from now on, both verbatim and URL-encoded.

        @return: a function that stops hiding it.
        """
        if not secret:
            return _do_nothing
        self._forms.pop(secret, None)
        self._forms[secret] = (secret, quote(secret, safe=""))
        while len(self._forms) > MOST_SECRETS:
            del self._forms[next(iter(self._forms))]
        self._stale = True

        def forget_secret() -> None:
            self._forms.pop(secret, None)
            self._stale = True

        return forget_secret

    def register_login(self, username: str, password: str) -> None:
        """Hide a password, and the user name and password as encoded for Basic authentication."""
        self.register_secret(password)
        self.register_secret(base64.b64encode(f"{username}:{password}".encode()).decode("ascii"))

    def redact_text(self, text: str) -> str:
        """Return C{text} without secrets."""
        if self._stale:
            self._compile_pattern()
        if self._known is not None:
            text = self._known.sub(MARK, text)
        for pattern in _PATTERNS:
            text = pattern.sub(rf"\1{MARK}", text)
        return text

    def _compile_pattern(self) -> None:
        self._stale = False
        forms = {form for forms in self._forms.values() for form in forms}
        ordered = sorted(forms, key=len, reverse=True)
        self._known = re.compile("|".join(map(_make_secret_pattern, ordered))) if ordered else None


def _make_secret_pattern(form: str) -> str:
    """Return the regular expression that matches one spelling of a secret.

    A very short secret matches only as a separate word, because the log would otherwise be
    unreadable.
    """
    escaped = re.escape(form)
    return escaped if len(form) >= _SHORT else rf"(?<!\w){escaped}(?!\w)"


def _do_nothing() -> None:
    """Do nothing: returned for an empty secret, which needs no undo."""
