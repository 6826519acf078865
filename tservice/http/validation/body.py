"""Parsing and validation of request data: JSON bodies and query strings.

Every refusal is a 400 that names the field and the rule it broke (wire, Conventions).  Data on
which JSON parsers disagree (repeated names, C{NaN}, depth, lone surrogates) is refused before the
model is applied.  No body may block the reactor for more than some milliseconds per MiB (C{python
-m bench bodies}).  Therefore the values are counted before parsing; for a long body the count runs
in an earlier reactor iteration.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import chain
from math import inf
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

from tservice.core.kernel.errors import ErrorCode, ServiceError, make_field_error
from tservice.core.values.value_limits import count_parsed_values, count_values
from tservice.http.validation.body_limits import MAX_VALUES, SPARE_VALUES
from tservice.http.validation.models import RequestBody
from tservice.http.validation.validation_errors import clean_name, explain_error

MAX_DEPTH = 64
"""Limit on the nesting of objects and lists; deeper bodies are refused."""

JSON_TYPES = frozenset({"", "application/json", "text/plain"})
"""C{text/plain} is the type that C{navigator.sendBeacon} sends: its raw text is read as JSON.

The Origin rule of the gate prevents misuse by other sites.  A missing type is accepted for curl.
"""

MAX_DIGITS = 40
"""Limit on the digits of an integer, more than 128 bits need.

Parsing takes time quadratic in the number of digits.
"""

LONG_TEXT = 256 * 1024
"""Size in bytes above which counting and parsing run in two separate reactor iterations."""

_DIGITS = bytes.maketrans(b"123456789", b"000000000")
_LISTS = (list, tuple, set, frozenset, Sequence)

_Model = TypeVar("_Model", bound=BaseModel)


def read_body(
    raw: bytes,
    content_type: str,
    model: type[_Model],
    optional: bool,
    values: int = MAX_VALUES,
) -> _Model:
    """Parse and validate the JSON body C{raw} as C{model}.

    @param optional: true if an empty body means C{{}}.
    @param values: maximum number of values in the body, as counted by L{parse_json}.
    @raise ServiceError: C{INVALID_INPUT} naming the field, or C{body} if the body cannot be parsed.
    """
    raw = _check_content_type(raw, content_type, optional)
    return _validate_as_model(parse_json(raw, values), model)


async def read_body_yielding(
    raw: bytes,
    content_type: str,
    model: type[_Model],
    optional: bool,
    values: int,
    clock: IReactorTime,
) -> _Model:
    """Parse and validate like L{read_body}, but yield to the reactor once for a long body.

    @raise ServiceError: as for L{read_body}.
    """
    raw = _check_content_type(raw, content_type, optional)
    return _validate_as_model(await parse_json_yielding(raw, clock, values), model)


def validate_data(data: object, model: type[_Model], optional: bool, values: int) -> _Model:
    """Validate parsed data as L{read_body} does; C{None} means that there is no body.

    @raise ServiceError: as for L{read_body}.
    """
    if data is None:
        data = _get_absent_body(optional)
    if count_parsed_values(data, values) > values:
        raise _make_value_limit_error(values)
    _check_values(data)
    return _validate_as_model(data, model)


def _check_content_type(raw: bytes, content_type: str, optional: bool) -> bytes:
    """Check the content type of a body, and return the bytes to parse."""
    if content_type.partition(";")[0].strip().lower() not in JSON_TYPES:
        raise make_field_error("content-type", "must be application/json")
    return raw if raw.strip() else json.dumps(_get_absent_body(optional)).encode()


def _get_absent_body(optional: bool) -> dict[str, object]:
    """Return the data that an absent body stands for, or refuse an absent body."""
    if not optional:
        raise make_field_error("body", "is required")
    return {}


def _validate_as_model(data: object, model: type[_Model]) -> _Model:
    _refuse_many_unknown_names(data, model)
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise explain_error(error, data, "body") from None


def check_empty_body(raw: bytes, content_type: str) -> None:
    """Check the body of an operation that takes no body: it is empty or C{{}}.

    @raise ServiceError: as for L{read_body}.
    """
    if raw.strip():
        read_body(raw, content_type, RequestBody, optional=True, values=SPARE_VALUES)


def read_query(args: Mapping[bytes, Sequence[bytes]], model: type[_Model]) -> _Model:
    """Validate the query parameters C{args} as C{model}; unknown ones are ignored.

    @raise ServiceError: C{INVALID_INPUT}, naming the parameter.
    """
    data: dict[str, object] = {}
    for name, field in model.model_fields.items():
        alias = field.alias or name
        values = args.get(alias.encode())
        if values is None:
            continue
        texts = [_read_query_value(alias, value) for value in values]
        if get_origin(field.annotation) in _LISTS or field.annotation in _LISTS:
            data[alias] = texts
        elif len(texts) > 1:
            raise make_field_error(alias, "must not be repeated")
        else:
            data[alias] = texts[0]
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise explain_error(error, data, "query") from None


def _read_query_value(name: str, value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise make_field_error(name, "must be UTF-8") from None


def _refuse_many_unknown_names(data: Any, model: type[BaseModel]) -> None:
    """Refuse data with many unknown names at the first one, because pydantic would report each."""
    if not isinstance(data, dict):
        return
    fields = {field.alias or name: field for name, field in model.model_fields.items()}
    if len(data) > len(fields) + SPARE_VALUES:
        unknown = next(name for name in data if name not in fields)
        raise make_field_error(clean_name(unknown), "is not a known field")
    for name, field in fields.items():
        for kind in (field.annotation, *get_args(field.annotation)):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                _refuse_many_unknown_names(data.get(name), kind)


def parse_json(raw: bytes, values: int = MAX_VALUES) -> Any:
    """Parse any JSON value, but refuse data on which JSON parsers disagree.

    @param values: maximum number of values and names; a list or an object counts as two.
    @raise ServiceError: C{INVALID_INPUT}: the data is not UTF-8, not JSON, nested deeper than
        L{MAX_DEPTH} or has too many values.  It is also raised for C{NaN}, infinities, a name twice
        in one object, half a surrogate pair, and an integer of more than L{MAX_DIGITS}.
    """
    _refuse_many_values(raw, values)
    return _load_json(raw)


async def parse_json_yielding(raw: bytes, clock: IReactorTime, values: int = MAX_VALUES) -> Any:
    """Parse like L{parse_json}, but yield to the reactor between counting and parsing a long text.

    @raise ServiceError: as for L{parse_json}.
    """
    _refuse_many_values(raw, values)
    if len(raw) > LONG_TEXT:
        await deferLater(clock, 0)
    return _load_json(raw)


def _refuse_many_values(raw: bytes, values: int) -> None:
    if count_values(raw, values) > values:
        raise _make_value_limit_error(values)


def _make_value_limit_error(values: int) -> ServiceError:
    return make_field_error("body", f"must hold at most {values} values and names")


def _load_json(raw: bytes) -> Any:
    try:
        data = json.loads(
            raw.decode(),
            parse_constant=_refuse_json_constant,
            parse_float=from_json,  # ten times as fast for many digits
            parse_int=_parse_short_integer if _has_long_number(raw) else None,
            object_pairs_hook=_refuse_repeated_names,
        )
    except UnicodeDecodeError:
        raise make_field_error("body", "must be UTF-8") from None
    except RecursionError:
        raise _make_depth_error() from None
    except ValueError:
        raise make_field_error("body", "must be JSON") from None
    _check_values(data)
    return data


def _refuse_json_constant(name: str) -> float:
    raise ValueError(name)


def _has_long_number(raw: bytes) -> bool:
    """Return whether the text may contain a number of more than L{MAX_DIGITS} digits.

    Only every tenth byte is checked: a number of that length has four consecutive digits among
    these.
    """
    return b"0000" in raw[:: MAX_DIGITS // 4].translate(_DIGITS)


def _parse_short_integer(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise make_field_error("body", f"must hold no integer of more than {MAX_DIGITS} digits")
    return int(text)


def _refuse_repeated_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            break
        seen.add(name)
    raise make_field_error(clean_name(name), "must not be repeated")


def _make_depth_error() -> ServiceError:
    return make_field_error("body", f"must not be nested deeper than {MAX_DEPTH}")


def _check_values(data: Any) -> None:
    """Refuse excessive depth, infinities and half surrogate pairs.

    The data is checked level by level, each as a whole, which avoids a Python step for each value.
    """
    level: list[Any] = [data]
    for _ in range(MAX_DEPTH + 1):
        kinds = set(map(type, level))
        texts, numbers = _values_of_type(str, kinds, level), _values_of_type(float, kinds, level)
        lists, objects = _values_of_type(list, kinds, level), _values_of_type(dict, kinds, level)
        if inf in numbers or -inf in numbers:
            raise make_field_error("body", "must hold finite numbers only")
        if not _is_valid_unicode("".join(chain(texts, *objects))):
            _refuse_half_surrogates(data, ())
        if not lists and not objects:
            return
        level = [*chain.from_iterable(lists), *chain.from_iterable(map(dict.values, objects))]
    raise _make_depth_error()


def _values_of_type(kind: type, kinds: set[type], values: list[Any]) -> list[Any]:
    return [value for value in values if type(value) is kind] if kind in kinds else []


def _refuse_half_surrogates(data: Any, path: tuple[str, ...]) -> None:
    """Refuse half a surrogate pair, naming its field (protocol-requests)."""
    if isinstance(data, str):
        if not _is_valid_unicode(data):
            raise make_field_error(".".join(path) or "body", "must not hold half a surrogate pair")
    elif isinstance(data, list):
        for index, value in enumerate(data):
            _refuse_half_surrogates(value, (*path, str(index)))
    elif isinstance(data, dict):
        for name, value in data.items():
            _refuse_half_surrogates(name, (*path, clean_name(name)))
            _refuse_half_surrogates(value, (*path, clean_name(name)))


def _is_valid_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def make_size_error(limit: int) -> ServiceError:
    """Return the 413 error for a body that exceeds its route's limit (protocol-requests).

    @param limit: the limit in bytes, for the error text.
    """
    return ServiceError(ErrorCode.PAYLOAD_TOO_LARGE, f"body: must be at most {limit} bytes")
