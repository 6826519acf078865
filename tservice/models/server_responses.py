"""Lenient parsing of model servers' answers: they name the context length in different ways.

Pure; invalid input raises nothing but L{ResponseUnreadable}.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import frozen

from tservice.models.model import MODEL_LIMIT, OfferedModel

CONTEXT_LIMIT = 2**31
"""Limit of tokens, above which a value is an error of the server."""
NAME_LENGTH = 200
STATE_LENGTH = 32
_SIGNS = (b",", b":", b"[", b"{")
_SIGN_LIMIT = 100_000
"""Limit of characters that begin or separate values, which determine the cost of parsing."""
_CONTEXT_KEYS = ("context_length", "context_window", "max_model_len")
_META_KEYS = ("n_ctx", "n_ctx_train")


class ResponseUnreadable(Exception):
    """The answer is not that of a model server; the text never contains any of it."""


@frozen(kw_only=True)
class RunningModels:
    """Loaded models of a server.

    @ivar supported: the server reports them.
    @ivar models: name and state of each.
    """

    supported: bool
    models: tuple[tuple[str, str], ...] = ()

    @property
    def loaded_names(self) -> tuple[str, ...]:
        """Names of the models that are loaded or loading."""
        return tuple(name for name, state in self.models if state not in _UNLOADING_STATES)


_UNLOADING_STATES = frozenset({"stopping", "stopped", "shutdown"})


def parse_models(body: bytes) -> tuple[OfferedModel, ...]:
    """Return the models of C{GET /v1/models}, in the server's order.

    @raise Unreadable: the answer is not a list of models.
    """
    data = _parse_json(body)
    items = data.get("data") if isinstance(data, dict) else None
    if not isinstance(items, list):
        raise ResponseUnreadable("it did not answer with a list of models")
    found: dict[str, OfferedModel] = {}
    for item in items:
        if isinstance(item, dict) and _is_name(item.get("id")):
            model = OfferedModel(id=item["id"], context_length=find_context_length(item))
            found.setdefault(model.id, model)
    return tuple(found.values())[:MODEL_LIMIT]


def find_context_length(item: Mapping[str, Any]) -> int | None:
    """Return the first context length in a model's entry (protocol-models)."""
    meta = item.get("meta")
    places = [(item, key) for key in _CONTEXT_KEYS]
    if isinstance(meta, dict):
        places += [(meta, key) for key in _META_KEYS]
    for place, key in places:
        value = place.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value < CONTEXT_LIMIT:
            return value
    return None


def parse_running(body: bytes) -> RunningModels:
    """Return the loaded models of C{GET /running} of llama-swap; other servers do not
    support it.
    """
    try:
        data = _parse_json(body)
    except ResponseUnreadable:
        return RunningModels(supported=False)
    items = data.get("running") if isinstance(data, dict) else None
    if not isinstance(items, list):
        return RunningModels(supported=False)
    return RunningModels(supported=True, models=tuple(_iterate_running(items))[:MODEL_LIMIT])


def _iterate_running(items: list[Any]) -> Iterator[tuple[str, str]]:
    for item in items:
        if isinstance(item, dict) and _is_name(item.get("model")):
            state = item.get("state")
            known = (
                isinstance(state, str) and 0 < len(state) <= STATE_LENGTH and state.isprintable()
            )
            yield item["model"], str(state) if known else "unknown"


def _is_name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= NAME_LENGTH and value.isprintable()


def _parse_json(body: bytes) -> Any:
    if sum(map(body.count, _SIGNS)) > _SIGN_LIMIT:
        raise ResponseUnreadable("its answer contains too many values")
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise ResponseUnreadable("it did not answer with JSON") from None
