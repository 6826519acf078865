"""Questions that a caller answers before a custom model is used (protocol-models)."""

from __future__ import annotations

from typing import Literal

from tservice.core.kernel.event_payloads import AffectedSession
from tservice.core.values.payload import Payload


class ContextQuestion(Payload):
    """Question about a model with a small context. A repeated request with C{confirmedContext} uses
    it.
    """

    requires_context_warning: Literal[True] = True
    model_id: str
    context_length: int
    min_safe_context_tokens: int


class SwapQuestion(Payload):
    """Question while another model is loaded. A repeated request with C{confirmedSwap} unloads that
    model.
    """

    requires_confirmation: Literal[True] = True
    currently_loaded_model: str
    affected_sessions: list[AffectedSession]
