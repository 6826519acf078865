"""Taking secrets out of text before anybody else reads it."""

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
    # One sign of the scheme is enough.  To look for its beginning in a long word would cost the
    # square of its length, and with the interpreter held.
    re.compile(r"([\w+.-]://)[^\s/@'\"]++(?=@)"),
    re.compile(r"(/q/)[A-Za-z0-9]{6}(?![A-Za-z0-9])"),
    re.compile(r"(tsk_)[A-Za-z0-9_-]{20,}"),
    re.compile(r"(/webview/)[A-Za-z0-9_-]{16,}"),
)
"""What looks like a secret wherever it comes from: the first group stays."""


class Redactor:
    """Replaces known secret values, and what looks like one, by L{MARK}.

    At most L{MOST_SECRETS} values are known; the oldest is forgotten first, which is why the
    patterns are there as well.
    """

    def __init__(self) -> None:
        self._forms: dict[str, tuple[str, ...]] = {}
        self._known: re.Pattern[str] | None = None
        self._stale = False

    def register(self, secret: str) -> Callable[[], None]:
        """From now on hide C{secret}, as it is and as URLs spell it; the result ends it."""
        if not secret:
            return _nothing
        self._forms.pop(secret, None)
        self._forms[secret] = (secret, quote(secret, safe=""))
        while len(self._forms) > MOST_SECRETS:
            del self._forms[next(iter(self._forms))]
        self._stale = True

        def forget() -> None:
            self._forms.pop(secret, None)
            self._stale = True

        return forget

    def register_login(self, username: str, password: str) -> None:
        """Hide a password, and the word that Basic authentication makes of it."""
        self.register(password)
        self.register(base64.b64encode(f"{username}:{password}".encode()).decode("ascii"))

    def clean(self, text: str) -> str:
        """C{text} without any secret."""
        if self._stale:
            self._compile()
        if self._known is not None:
            text = self._known.sub(MARK, text)
        for pattern in _PATTERNS:
            text = pattern.sub(rf"\1{MARK}", text)
        return text

    def _compile(self) -> None:
        self._stale = False
        forms = {form for forms in self._forms.values() for form in forms}
        ordered = sorted(forms, key=len, reverse=True)
        self._known = re.compile("|".join(map(_pattern, ordered))) if ordered else None


def _pattern(form: str) -> str:
    """A very short secret is hidden only where it stands alone, or no log could be read."""
    escaped = re.escape(form)
    return escaped if len(form) >= _SHORT else rf"(?<!\w){escaped}(?!\w)"


def _nothing() -> None:
    """What ends the hiding of an empty secret."""
