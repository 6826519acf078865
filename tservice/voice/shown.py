"""Response model of dictation (protocol-voice)."""

from __future__ import annotations

from tservice.core.payload import Payload, absent


class VoiceStatus(Payload):
    """Whether the service can make text of speech; the account's secret is never told."""

    available: bool
    reason: str | None = absent()
    subscription_type: str | None = absent()
    expires_at: int | None = absent()
