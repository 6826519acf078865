"""Response model of dictation (protocol-voice)."""

from __future__ import annotations

from tservice.core.payload import Payload, omit_if_none


class VoiceStatusResponse(Payload):
    """Whether the service can make text of speech; the account's secret is never told."""

    available: bool
    reason: str | None = omit_if_none()
    subscription_type: str | None = omit_if_none()
    expires_at: int | None = omit_if_none()
