"""Records and limits of dictation (protocol-voice).  Pure."""

from __future__ import annotations

import json
import re
from enum import StrEnum
from typing import Any

from attrs import evolve, field, frozen

MAX_STREAMS = 4
"""Limit of concurrent dictations."""

STREAMS_PER_ACCOUNT = 2
"""Limit of concurrent dictations of one account, if there are several accounts."""

STREAM_SECONDS = 300
"""Longest dictation in seconds."""

FRAME_BYTES = 65_536
"""Largest message of speech from a client in bytes."""

QUEUE_BYTES = 256 * 1024
"""Bytes of speech queued for the speech service, above which reading pauses: 8 seconds."""

MAX_TEXT_LENGTH = 100_000
"""Longest text of a dictation in characters; five minutes of speech have some 6,000."""

KEYTERMS = 100
"""Limit of terms that are passed on; further ones are left out."""

EXPIRY_SECONDS = 60
"""Seconds before their expiry at which credentials count as expired."""

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
    """Dictation is not available."""

    def __init__(self, reason: UnavailableReason) -> None:
        super().__init__(reason.value)
        self.reason = reason


@frozen(kw_only=True)
class VoiceCredentials:
    """Credentials of the primary CLI's account, which are only read.

    @ivar expires_at: Unix milliseconds.
    """

    token: str = field(repr=False)
    expires_at: int
    subscription_type: str | None = None


@frozen(kw_only=True)
class SpeechSource:
    """Provider and secret for a dictation."""

    provider: SpeechProvider
    secret: str = field(repr=False)
    credentials: VoiceCredentials | None = None


def parse_credentials(content: bytes | None, now: int) -> VoiceCredentials:
    """Return the credentials in the primary CLI's file.

    @param content: C{None}: there is no file.
    @param now: Unix milliseconds.
    @raise Unavailable: there are no usable credentials.
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
    """Update from the speech service: a new end of the text, a final text, or an error.

    @ivar tail: replaces the provisional end of the text.
    @ivar ends: the provisional end is final.
    """

    tail: str | None = None
    is_final: bool = False
    error: str | None = None


@frozen(kw_only=True)
class DictatedText:
    """Text of a dictation so far.

    @ivar tail: its provisional end, which may still be replaced.
    """

    fixed: str = ""
    tail: str = ""

    @property
    def text(self) -> str:
        """Whole text."""
        return " ".join(part for part in (self.fixed, self.tail) if part)

    def with_update(self, update: SpeechUpdate) -> DictatedText:
        """Return the text after C{heard}."""
        tail = self.tail if update.tail is None else update.tail.strip()
        after = evolve(self, tail=tail)
        return DictatedText(fixed=after.text) if update.is_final else after


def sanitize_error(message: str, secret: str) -> str:
    """Return an error of the speech service for a client: one short line without C{secret}."""
    clean = message.replace(secret, "[redacted]") if secret else message
    return " ".join("".join(each if each.isprintable() else " " for each in clean).split())[:300]
