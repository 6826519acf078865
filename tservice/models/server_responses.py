"""Lenient parsing of responses of model servers, which name the context length in different ways.

Invalid input raises L{ResponseUnreadable} only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import frozen

from tservice.models.model import MODEL_LIMIT, OfferedModel

CONTEXT_LIMIT = 2**31
"""Maximum plausible context length in tokens. A larger value is an error of the server."""
NAME_LENGTH = 200
STATE_LENGTH = 32
_SIGNS = (b",", b":", b"[", b"{")
_SIGN_LIMIT = 100_000
"""Maximum number of characters that begin or separate values. They determine the cost of
parsing.
"""
_CONTEXT_KEYS = ("context_length", "context_window", "max_model_len")
_META_KEYS = ("n_ctx", "n_ctx_train")


class ResponseUnreadable(Exception):
    """Error for a response that does not come from a model server. Its text contains nothing of the
    response.
    """


@frozen(kw_only=True)
class RunningModels:
    """Models that a server has loaded or is loading.

    @ivar supported: true if the server reports its loaded models.
    @ivar models: name and state of each model.
    """

    supported: bool
    models: tuple[tuple[str, str], ...] = ()

    @property
    def loaded_names(self) -> tuple[str, ...]:
        """Names of the models that are loaded or being loaded."""
        return tuple(name for name, state in self.models if state not in _UNLOADING_STATES)


_UNLOADING_STATES = frozenset({"stopping", "stopped", "shutdown"})


def parse_models(body: bytes) -> tuple[OfferedModel, ...]:
    """Parse the response to C{GET /v1/models}. The server's order is kept.

    @raise ResponseUnreadable: the response is not a list of models.
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
    """Return the first context length in a model's entry, in tokens (protocol-models).

    @return: C{None} if the entry contains none.
    """
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
    """Parse the response to C{GET /running} of llama-swap. Other servers do not support that
    request.
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
