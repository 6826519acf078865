"""Routes of C{/api/voice/status} and C{/ws/voice/stream}."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, StringConstraints
from twisted.internet.interfaces import IReactorTime

from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, OperationCall, ResponseStyle
from tservice.http.validation.body_limits import SocketLimits
from tservice.http.validation.models import QueryParameters
from tservice.http.websockets.interface import UNSUPPORTED
from tservice.http.websockets.upgrade import NO_SUCH, CloseSocket, FeatureDisabled
from tservice.voice.model import FRAME_BYTES, KEYTERMS, DictationUnavailable, UnavailableReason
from tservice.voice.responses import VoiceStatusResponse
from tservice.voice.routes.dictation import ConnectionOpener, DictationDependencies, DictationRelay
from tservice.voice.service import VoiceService

TERM = 64
"""Maximum length of a term in characters, as in the settings."""


def _check_terms(text: str) -> str:
    if any(len(term) > TERM for term in split_terms(text)[:KEYTERMS]):
        raise ValueError(f"must not contain a term of more than {TERM} characters")
    return text


def split_terms(text: str) -> list[str]:
    """Return the terms of a comma-separated list."""
    return [term for term in (part.strip() for part in text.split(",")) if term]


class VoiceQuery(QueryParameters):
    """Query for a dictation; missing values come from the settings."""

    language: (
        Annotated[
            str,
            StringConstraints(pattern=r"^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$", max_length=35),
        ]
        | None
    ) = None
    keyterms: (
        Annotated[
            str,
            StringConstraints(pattern=r"^[^\x00-\x1f\x7f]*$", max_length=16384),
            AfterValidator(_check_terms),
        ]
        | None
    ) = None


_VOICE = OperationFields(
    tag="Voice",
    access=AccessRule.USER,
    scope_reason=(
        "Only a person dictates, in a page. It causes costs for the service's speech account."
    ),
)


class VoiceRoutes:
    """Routes of dictation; the rules are in L{VoiceService} and L{DictationRelay}."""

    def __init__(self, clock: IReactorTime, voice: VoiceService, opens: ConnectionOpener) -> None:
        self._clock, self._voice, self._opens = clock, voice, opens

    def require_enabled(self) -> None:
        """Check that the settings enable dictation. Call this before any other check of a request.

        @raise FeatureDisabled: dictation is turned off.
        """
        if not self._voice.is_enabled:
            raise FeatureDisabled("primaryVoiceEnabled", UnavailableReason.DISABLED.value)

    @operation("GET", "/api/voice/status", _VOICE)
    async def get_status(self, call: OperationCall) -> VoiceStatusResponse:
        """Check that speech recognition is available."""
        return await self._voice.get_status()

    @operation(
        "GET",
        "/ws/voice/stream",
        _VOICE,
        style=ResponseStyle.WEBSOCKET,
        # With compression, a read of 64 KB could contain 64 MB of silence.
        socket=SocketLimits(message=FRAME_BYTES, too_big=UNSUPPORTED, compressed=False),
        closes_foreign=True,
        allowed=require_enabled,
    )
    async def open_dictation(self, call: OperationCall, query: VoiceQuery) -> DictationRelay:
        """Dictation stream: speech up, its text down.

        @raise CloseSocket: dictation is not available.
        """
        try:
            source = await self._voice.find_source()
        except DictationUnavailable as error:
            raise CloseSocket(NO_SUCH, error.reason.value) from None
        terms = None if query.keyterms is None else split_terms(query.keyterms)
        return DictationRelay(
            DictationDependencies(
                clock=self._clock,
                voice=self._voice,
                opens=self._opens,
                source=source,
                username=call.caller.username,
                language=query.language,
                keyterms=terms,
            )
        )
