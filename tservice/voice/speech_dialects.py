"""Request and message formats of each speech service (protocol-voice)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from attrs import frozen

from tservice.voice.model import KEYTERMS, SpeechProvider, SpeechUpdate

KEEP_ALIVE = '{"type":"KeepAlive"}'
"""Message that is sent when the connection opens, and then every L{KEEP_ALIVE_SECONDS}."""
CLOSE_STREAM = '{"type":"CloseStream"}'
"""Message that marks the end of the speech and requests the rest of the text."""
KEEP_ALIVE_SECONDS = 8

_SOUND = {"encoding": "linear16", "sample_rate": "16000", "channels": "1"}


@frozen(kw_only=True)
class SpeechDialect:
    """Request and message format of one speech service.

    @ivar options: query parameters besides audio format, language and terms.
    @ivar scheme: scheme of the C{Authorization} header.
    @ivar parse_message: converts a JSON object from the speech service to an update; returns
        C{None} if the message is irrelevant.
    """

    options: Mapping[str, str]
    scheme: str
    parse_message: Callable[[Mapping[str, Any]], SpeechUpdate | None]

    def build_query(self, language: str, keyterms: Sequence[str]) -> str:
        """Return the query of the URL for a connection."""
        query = [*_SOUND.items(), *self.options.items(), ("language", language)]
        query += [("keyterm", term) for term in keyterms[:KEYTERMS]]
        return urlencode(query)

    def build_headers(self, secret: str) -> Mapping[str, str]:
        """Return the request headers that contain the credentials."""
        return {"Authorization": f"{self.scheme} {secret}"}

    def parse_update(self, payload: bytes) -> SpeechUpdate | None:
        """Parse a message from the speech service. Return C{None} for an irrelevant or invalid
        message.
        """
        try:
            message = json.loads(payload)
        except (ValueError, RecursionError):
            return None
        return self.parse_message(message) if isinstance(message, dict) else None


def _get_nested_text(message: Any, *path: str | int) -> str:
    """Return the string under the keys C{path} of a message, or an empty string if there is
    none.
    """
    for step in path:
        try:
            message = message[step]
        except (KeyError, IndexError, TypeError):
            return ""
    return message if isinstance(message, str) else ""


def _parse_primary(message: Mapping[str, Any]) -> SpeechUpdate | None:
    kind = message.get("type")
    if kind in ("TranscriptText", "TranscriptInterim"):
        return SpeechUpdate(tail=_get_nested_text(message, "data"))
    if kind == "TranscriptEndpoint":
        return SpeechUpdate(is_final=True)
    if kind == "TranscriptError":
        return SpeechUpdate(
            error=_get_nested_text(message, "description") or "the speech service failed"
        )
    return None


def _parse_deepgram(message: Mapping[str, Any]) -> SpeechUpdate | None:
    kind = message.get("type")
    if kind == "Results":
        said = _get_nested_text(message, "channel", "alternatives", 0, "transcript")
        return SpeechUpdate(tail=said, is_final=message.get("is_final") is True)
    if kind == "Error":
        return SpeechUpdate(
            error=_get_nested_text(message, "description") or "the speech service failed"
        )
    return None


DIALECTS: Mapping[SpeechProvider, SpeechDialect] = {
    SpeechProvider.PRIMARY: SpeechDialect(
        options={"endpointing_ms": "300", "utterance_end_ms": "1000"},
        scheme="Bearer",
        parse_message=_parse_primary,
    ),
    SpeechProvider.THIRD_PARTY: SpeechDialect(
        options={
            "model": "nova-3",
            "interim_results": "true",
            "smart_format": "true",
            "endpointing": "300",
        },
        scheme="Token",
        parse_message=_parse_deepgram,
    ),
}
