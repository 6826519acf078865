"""Records and limits of dictation (protocol-voice)."""

from __future__ import annotations

import json
import re
from enum import StrEnum
from typing import Any

from attrs import evolve, field, frozen

MAX_STREAMS = 4
"""Maximum number of concurrent dictations."""

STREAMS_PER_ACCOUNT = 2
"""Maximum number of concurrent dictations of one account, if there are several accounts."""

STREAM_SECONDS = 300
"""Maximum duration of a dictation in seconds."""

FRAME_BYTES = 65_536
"""Maximum size in bytes of a message with speech from a client."""

QUEUE_BYTES = 256 * 1024
"""Maximum number of bytes that wait to be sent to the speech service, equal to 8 seconds of speech.
Reading from the client pauses above it.
"""

MAX_TEXT_LENGTH = 100_000
"""Maximum length of a dictated text in characters. Five minutes of speech have some 6,000."""

KEYTERMS = 100
"""Maximum number of terms that are sent to the speech service. Further terms are left out."""

EXPIRY_SECONDS = 60
"""Seconds before the expiry of credentials at which they already count as expired."""

CREDENTIALS_BYTES = 64 * 1024

_TOKEN = re.compile(r"[\x21-\x7e]{1,4096}")


class SpeechProvider(StrEnum):
    """Provider of speech recognition."""

    PRIMARY = "primary"
    THIRD_PARTY = "third_party"


class UnavailableReason(StrEnum):
    """Reason why dictation is not available."""

    DISABLED = "disabled"
    NO_CREDENTIALS = "no-credentials"
    EXPIRED = "expired"
    MALFORMED = "malformed"


class DictationUnavailable(Exception):
    """Error for a dictation that is not available, with the reason."""

    def __init__(self, reason: UnavailableReason) -> None:
        super().__init__(reason.value)
        self.reason = reason


@frozen(kw_only=True)
class VoiceCredentials:
    """Credentials of the primary CLI's account. The service only reads them.

    @ivar expires_at: expiry in Unix milliseconds.
    """

    token: str = field(repr=False)
    expires_at: int
    subscription_type: str | None = None


@frozen(kw_only=True)
class SpeechSource:
    """Speech provider and the secret for using it."""

    provider: SpeechProvider
    secret: str = field(repr=False)
    credentials: VoiceCredentials | None = None


def parse_credentials(content: bytes | None, now: int) -> VoiceCredentials:
    """Parse the primary CLI's credentials file.

    @param content: contents of the file, or C{None} if there is no file.
    @param now: Unix milliseconds.
    @raise DictationUnavailable: the file contains no valid credentials.
    """
    if content is None:
        raise DictationUnavailable(UnavailableReason.NO_CREDENTIALS)
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        raise DictationUnavailable(UnavailableReason.MALFORMED) from None
    if not isinstance(found, dict):
        raise DictationUnavailable(UnavailableReason.MALFORMED)
    if found.get("claudeAiOauth") is None:
        raise DictationUnavailable(UnavailableReason.NO_CREDENTIALS)
    credentials = _validate_credentials(found["claudeAiOauth"])
    if credentials.expires_at <= now + EXPIRY_SECONDS * 1000:
        raise DictationUnavailable(UnavailableReason.EXPIRED)
    return credentials


def _validate_credentials(found: Any) -> VoiceCredentials:
    if not isinstance(found, dict):
        raise DictationUnavailable(UnavailableReason.MALFORMED)
    token, ends = found.get("accessToken"), found.get("expiresAt")
    good = isinstance(token, str) and _TOKEN.fullmatch(token)
    if not good or isinstance(ends, bool) or not isinstance(ends, int | float) or ends != ends:
        raise DictationUnavailable(UnavailableReason.MALFORMED)
    if not 0 <= ends < 1e15:
        raise DictationUnavailable(UnavailableReason.MALFORMED)
    kind = found.get("subscriptionType")
    told = kind[:64] if isinstance(kind, str) else None
    return VoiceCredentials(token=str(token), expires_at=int(ends), subscription_type=told)


@frozen(kw_only=True)
class SpeechUpdate:
    """Update from the speech service: a new provisional text, a final text, or an error.

    @ivar tail: text that replaces the provisional end of the dictated text; C{None} if there is
        none.
    @ivar is_final: true if the provisional end is final now.
    """

    tail: str | None = None
    is_final: bool = False
    error: str | None = None


@frozen(kw_only=True)
class DictatedText:
    """Text of a dictation so far.

    @ivar fixed: final part of the text.
    @ivar tail: provisional end of the text, which later updates may replace.
    """

    fixed: str = ""
    tail: str = ""

    @property
    def text(self) -> str:
        """Complete text: the final part, followed by the provisional end."""
        return " ".join(part for part in (self.fixed, self.tail) if part)

    def apply_update(self, update: SpeechUpdate) -> DictatedText:
        """Return the text after applying C{update}."""
        tail = self.tail if update.tail is None else update.tail.strip()
        after = evolve(self, tail=tail)
        return DictatedText(fixed=after.text) if update.is_final else after


def sanitize_error(message: str, secret: str) -> str:
    """Return an error of the speech service in a form for clients: one short line without
    C{secret}.
    """
    clean = message.replace(secret, "[redacted]") if secret else message
    return " ".join("".join(each if each.isprintable() else " " for each in clean).split())[:300]
