"""Questions that a caller answers before a custom model is used (protocol-models)."""

from __future__ import annotations

from typing import Literal

from tservice.core.event_payloads import AffectedSession
from tservice.core.payload import Payload


class ContextQuestion(Payload):
    """The model's context is small; asked again with C{confirmedContext}, it is used."""

    requires_context_warning: Literal[True] = True
    model_id: str
    context_length: int
    min_safe_context_tokens: int


class SwapQuestion(Payload):
    """Another model is loaded; asked again with C{confirmedSwap}, it is pushed out."""

    requires_confirmation: Literal[True] = True
    currently_loaded_model: str
    affected_sessions: list[AffectedSession]
