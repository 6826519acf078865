"""Cleans untrusted model names for display."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from enum import StrEnum

from tservice.clis.interfaces import MODEL_LENGTH as MODEL_LENGTH
from tservice.core.values.text import JOINERS, cut_between_letters

_UNSEEN = ("Cc", "Cf", "Cs")


class ModelSource(StrEnum):
    """Source of the model's name, most trusted first (protocol-session)."""

    CUSTOM_ENDPOINT = "custom-endpoint"
    STATUSLINE = "statusline"
    SCREEN = "screen"
    CONFIG = "config"
    LAUNCH = "launch"


def clean_line(text: str, limit: int) -> str:
    """Return one line without control or format characters, at most C{limit} characters."""
    kept = "".join(c for c in text if c in JOINERS or unicodedata.category(c) not in _UNSEEN)
    return cut_between_letters(kept.strip(), limit)


def choose_display_model(models: Mapping[str, str]) -> tuple[str, ModelSource] | None:
    """Return the model name of the most trusted source and that source; C{None} without a report.

    @param models: reported model names by source.
    """
    for source in ModelSource:
        text = clean_line(models.get(source, ""), MODEL_LENGTH)
        if text:
            return text, source
    return None


def initial_models(model_id: str | None) -> dict[str, str]:
    """Return the initial model reports of a new session that uses C{model_id} of a custom
    endpoint.
    """
    if model_id is None:
        return {}
    return {ModelSource.CUSTOM_ENDPOINT: clean_line(model_id, MODEL_LENGTH)}


def models_after_restart(models: Mapping[str, str]) -> dict[str, str]:
    """Return the model reports that stay valid after a restart of the agent.

    The source C{config} is dropped, because it is read again (protocol-session).
    """
    return {source: text for source, text in models.items() if source != ModelSource.CONFIG}
