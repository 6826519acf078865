"""Response model of dictation (protocol-voice)."""

from __future__ import annotations

from tservice.core.values.payload import Payload, omit_if_none


class VoiceStatusResponse(Payload):
    """Availability of speech recognition. The account's secret is never included."""

    available: bool
    reason: str | None = omit_if_none()
    subscription_type: str | None = omit_if_none()
    expires_at: int | None = omit_if_none()
