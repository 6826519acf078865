"""How each speech service is asked, and how it answers (protocol-voice).  Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from attrs import frozen

from tservice.voice.model import KEYTERMS, Heard, Provider

KEEP_ALIVE = '{"type":"KeepAlive"}'
"""Sent at the opening and every L{KEEP_ALIVE_SECONDS}."""
CLOSE_STREAM = '{"type":"CloseStream"}'
"""There is no more speech: the rest of the text is wanted."""
KEEP_ALIVE_SECONDS = 8

_SOUND = {"encoding": "linear16", "sample_rate": "16000", "channels": "1"}


@frozen(kw_only=True)
class Dialect:
    """One speech service.

    @ivar options: of the query, beside the sound's, language and terms.
    @ivar scheme: of its C{Authorization}.
    @ivar read: what a message of its, an object, says; C{None}: nothing that counts.
    """

    options: Mapping[str, str]
    scheme: str
    read: Callable[[Mapping[str, Any]], Heard | None]

    def query(self, language: str, keyterms: Sequence[str]) -> str:
        """What is asked for."""
        query = [*_SOUND.items(), *self.options.items(), ("language", language)]
        query += [("keyterm", term) for term in keyterms[:KEYTERMS]]
        return urlencode(query)

    def headers(self, secret: str) -> Mapping[str, str]:
        """What it knows us by."""
        return {"Authorization": f"{self.scheme} {secret}"}

    def heard(self, payload: bytes) -> Heard | None:
        """What a message says; what is no message of the dialect says nothing."""
        try:
            message = json.loads(payload)
        except (ValueError, RecursionError):
            return None
        return self.read(message) if isinstance(message, dict) else None


def _text(message: Any, *path: str | int) -> str:
    """The text at a path; nothing where there is none."""
    for step in path:
        try:
            message = message[step]
        except (KeyError, IndexError, TypeError):
            return ""
    return message if isinstance(message, str) else ""


def _primary(message: Mapping[str, Any]) -> Heard | None:
    kind = message.get("type")
    if kind in ("TranscriptText", "TranscriptInterim"):
        return Heard(tail=_text(message, "data"))
    if kind == "TranscriptEndpoint":
        return Heard(ends=True)
    if kind == "TranscriptError":
        return Heard(error=_text(message, "description") or "the speech service failed")
    return None


def _deepgram(message: Mapping[str, Any]) -> Heard | None:
    kind = message.get("type")
    if kind == "Results":
        said = _text(message, "channel", "alternatives", 0, "transcript")
        return Heard(tail=said, ends=message.get("is_final") is True)
    if kind == "Error":
        return Heard(error=_text(message, "description") or "the speech service failed")
    return None


DIALECTS: Mapping[Provider, Dialect] = {
    Provider.PRIMARY: Dialect(
        options={"endpointing_ms": "300", "utterance_end_ms": "1000"},
        scheme="Bearer",
        read=_primary,
    ),
    Provider.THIRD_PARTY: Dialect(
        options={
            "model": "nova-3",
            "interim_results": "true",
            "smart_format": "true",
            "endpointing": "300",
        },
        scheme="Token",
        read=_deepgram,
    ),
}
