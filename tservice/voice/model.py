"""What a dictation is made from, and what becomes of it (protocol-voice).  Pure."""

from __future__ import annotations

import json
import re
from enum import StrEnum
from typing import Any

from attrs import evolve, field, frozen

STREAMS = 4
"""Dictations at a time."""

OF_ONE = 2
"""Of them of one account, where there are several accounts."""

STREAM_SECONDS = 300
"""How long one may last."""

FRAME_BYTES = 65_536
"""Bytes of speech in one message of a client."""

QUEUE_BYTES = 256 * 1024
"""Bytes of speech that wait for the speech service, from which on no more is read: 8 seconds."""

TEXT_MOST = 100_000
"""Characters of a dictation's text; five minutes of speech have some 6,000."""

KEYTERMS = 100
"""Terms that are passed on; the others are left out."""

EXPIRY_SECONDS = 60
"""Credentials that end within this time are taken for expired."""

CREDENTIALS_BYTES = 64 * 1024

_TOKEN = re.compile(r"[\x21-\x7e]{1,4096}")


class Provider(StrEnum):
    """Who turns speech into text for the service."""

    PRIMARY = "primary"
    THIRD_PARTY = "third_party"


class Reason(StrEnum):
    """Why there is no dictation."""

    DISABLED = "disabled"
    NO_CREDENTIALS = "no-credentials"
    EXPIRED = "expired"
    MALFORMED = "malformed"


class Unavailable(Exception):
    """There is no dictation."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.value)
        self.reason = reason


@frozen(kw_only=True)
class Credentials:
    """Those of the primary CLI's account, read and never changed.

    @ivar expires_at: Unix milliseconds.
    """

    token: str = field(repr=False)
    expires_at: int
    subscription_type: str | None = None


@frozen(kw_only=True)
class Source:
    """Whom a dictation is sent to, and with which secret."""

    provider: Provider
    secret: str = field(repr=False)
    credentials: Credentials | None = None


def read_credentials(content: bytes | None, now: int) -> Credentials:
    """The credentials in the primary CLI's file.

    @param content: C{None}: there is no such file.
    @param now: Unix milliseconds.
    @raise Unavailable: there are none, or none that can be used.
    """
    if content is None:
        raise Unavailable(Reason.NO_CREDENTIALS)
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        raise Unavailable(Reason.MALFORMED) from None
    if not isinstance(found, dict):
        raise Unavailable(Reason.MALFORMED)
    if found.get("claudeAiOauth") is None:
        raise Unavailable(Reason.NO_CREDENTIALS)
    credentials = _credentials(found["claudeAiOauth"])
    if credentials.expires_at <= now + EXPIRY_SECONDS * 1000:
        raise Unavailable(Reason.EXPIRED)
    return credentials


def _credentials(found: Any) -> Credentials:
    if not isinstance(found, dict):
        raise Unavailable(Reason.MALFORMED)
    token, ends = found.get("accessToken"), found.get("expiresAt")
    good = isinstance(token, str) and _TOKEN.fullmatch(token)
    if not good or isinstance(ends, bool) or not isinstance(ends, int | float) or ends != ends:
        raise Unavailable(Reason.MALFORMED)
    if not 0 <= ends < 1e15:
        raise Unavailable(Reason.MALFORMED)
    kind = found.get("subscriptionType")
    told = kind[:64] if isinstance(kind, str) else None
    return Credentials(token=str(token), expires_at=int(ends), subscription_type=told)


@frozen(kw_only=True)
class Heard:
    """What the speech service said: a new end of the text, or that the text stands, or a fault.

    @ivar tail: replaces the running end of the text.
    @ivar ends: the running end is final.
    """

    tail: str | None = None
    ends: bool = False
    error: str | None = None


@frozen(kw_only=True)
class Transcript:
    """The text so far.

    @ivar tail: its running end, which may still be replaced.
    """

    fixed: str = ""
    tail: str = ""

    @property
    def text(self) -> str:
        """The whole."""
        return " ".join(part for part in (self.fixed, self.tail) if part)

    def after(self, heard: Heard) -> Transcript:
        """The text once C{heard} is taken into account."""
        tail = self.tail if heard.tail is None else heard.tail.strip()
        after = evolve(self, tail=tail)
        return Transcript(fixed=after.text) if heard.ends else after


def shown_error(message: str, secret: str) -> str:
    """What a client is told of a fault of the speech service: one short line without C{secret}."""
    clean = message.replace(secret, "[redacted]") if secret else message
    return " ".join("".join(each if each.isprintable() else " " for each in clean).split())[:300]
