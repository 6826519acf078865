"""Reading what a request carries: JSON bodies and query strings, checked at the edge.

Every refusal is a 400 that names the field and the rule it broke (wire, Conventions).  A body
is read twice: once for what JSON itself leaves open (repeated names, C{NaN}, depth, lone
surrogates), once by its model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar, get_origin

from pydantic import BaseModel, ValidationError

from tservice.core.errors import ErrorCode, ServiceError, invalid
from tservice.http.models import Body
from tservice.http.rules import explain, legible

MAX_DEPTH = 64
"""Objects and lists inside each other; deeper bodies are refused."""

JSON_TYPES = frozenset({"", "application/json", "text/plain"})
"""C{text/plain} is what C{navigator.sendBeacon} sends: its raw text is read as JSON.

The Origin rule of the gate keeps other sites from using it; a missing type is curl's business.
"""

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_LISTS = (list, tuple, set, frozenset, Sequence)

_Model = TypeVar("_Model", bound=BaseModel)


def read_body(raw: bytes, content_type: str, model: type[_Model], optional: bool) -> _Model:
    """The JSON body C{raw} as an instance of C{model}.

    @param optional: an empty body stands for C{{}}.
    @raise ServiceError: C{INVALID_INPUT}, naming the field; C{body} for what does not parse.
    """
    if content_type.partition(";")[0].strip().lower() not in JSON_TYPES:
        raise invalid("content-type", "must be application/json")
    if not raw.strip():
        if not optional:
            raise invalid("body", "is required")
        raw = b"{}"
    data = parse_json(raw)
    try:
        return model.model_validate_json(raw)
    except ValidationError as error:
        raise explain(error, data, "body") from None


def read_nothing(raw: bytes, content_type: str) -> None:
    """Check a body where there is nothing to say: absent or C{{}}.

    @raise ServiceError: as L{read_body}.
    """
    if raw.strip():
        read_body(raw, content_type, Body, optional=True)


def read_query(args: Mapping[bytes, Sequence[bytes]], model: type[_Model]) -> _Model:
    """The query parameters C{args} as an instance of C{model}; unknown ones are ignored.

    @raise ServiceError: C{INVALID_INPUT}, naming the parameter.
    """
    data: dict[str, object] = {}
    for name, field in model.model_fields.items():
        alias = field.alias or name
        values = args.get(alias.encode())
        if values is None:
            continue
        texts = [_query_text(alias, value) for value in values]
        if get_origin(field.annotation) in _LISTS or field.annotation in _LISTS:
            data[alias] = texts
        elif len(texts) > 1:
            raise invalid(alias, "must not be repeated")
        else:
            data[alias] = texts[0]
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise explain(error, data, "query") from None


def _query_text(name: str, value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise invalid(name, "must be UTF-8") from None


def parse_json(raw: bytes) -> Any:
    """Any JSON value, without what its readers would disagree about.

    @raise ServiceError: C{INVALID_INPUT}: not UTF-8, not JSON, C{NaN} or an infinity, a name
        twice in one object, nested deeper than L{MAX_DEPTH}, half a surrogate pair.
    """
    try:
        data = json.loads(
            raw.decode(),
            parse_constant=_no_constant,
            parse_float=_finite,
            object_pairs_hook=_unique,
        )
    except UnicodeDecodeError:
        raise invalid("body", "must be UTF-8") from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError:
        raise invalid("body", "must be JSON") from None
    if raw.count(b"[") + raw.count(b"{") > MAX_DEPTH:
        _check_depth(data)
    if _SURROGATE.search(raw):
        _check_text(data, ())
    return data


def _no_constant(name: str) -> float:
    raise ValueError(name)


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise invalid("body", "must hold finite numbers only")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            break
        seen.add(name)
    raise invalid(legible(name), "must not be repeated")


def _too_deep() -> ServiceError:
    return invalid("body", f"must not be nested deeper than {MAX_DEPTH}")


def _check_depth(data: Any) -> None:
    level = _containers([data])
    for _ in range(MAX_DEPTH):
        if not level:
            return
        level = _containers(
            inner
            for value in level
            for inner in (value.values() if isinstance(value, dict) else value)
        )
    if level:
        raise _too_deep()


def _containers(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if isinstance(value, dict | list)]


def _check_text(data: Any, path: tuple[str, ...]) -> None:
    """Refuse half a surrogate pair by the name of its field (wire 26, Requests and answers)."""
    if isinstance(data, str):
        if not _is_text(data):
            raise invalid(".".join(path) or "body", "must not hold half a surrogate pair")
    elif isinstance(data, list):
        for index, value in enumerate(data):
            _check_text(value, (*path, str(index)))
    elif isinstance(data, dict):
        for name, value in data.items():
            _check_text(name, (*path, legible(name)))
            _check_text(value, (*path, name))


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def too_large(limit: int) -> ServiceError:
    """The 413 of a body over its route's bound (wire 0)."""
    return ServiceError(ErrorCode.PAYLOAD_TOO_LARGE, f"body: must be at most {limit} bytes")
