"""Translation of pydantic's errors into the service's error texts, such as C{cols: must be at most
500}.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from tservice.core.kernel.errors import ServiceError, make_field_error

_Context = Mapping[str, Any]

_MUST = "must be "

_FIXED = {
    "missing": "is required",
    "extra_forbidden": "is not a known field",
    "string_type": "must be a string",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be an integer",
    "int_parsing": "must be an integer",
    "int_from_float": "must be an integer",
    "int_parsing_size": "is too large",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "set_type": "must be a list",
    "frozen_set_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "none_required": "must be null",
    "string_unicode": "must be UTF-8",
    "recursion_loop": "must not be nested so deeply",
}

_BOUND: dict[str, Callable[[_Context], str]] = {
    "less_than_equal": lambda c: f"must be at most {_format_bound(c['le'])}",
    "less_than": lambda c: f"must be less than {_format_bound(c['lt'])}",
    "greater_than_equal": lambda c: f"must be at least {_format_bound(c['ge'])}",
    "greater_than": lambda c: f"must be more than {_format_bound(c['gt'])}",
    "multiple_of": lambda c: f"must be a multiple of {_format_bound(c['multiple_of'])}",
    "string_too_long": lambda c: f"must be at most {c['max_length']} characters",
    "string_too_short": lambda c: f"must be at least {c['min_length']} characters",
    "too_long": lambda c: f"must have at most {c['max_length']} entries",
    "too_short": lambda c: f"must have at least {c['min_length']} entries",
    "string_pattern_mismatch": lambda c: f"must match {c['pattern']}",
    "literal_error": lambda c: f"must be one of {c['expected']}",
    "enum": lambda c: f"must be one of {c['expected']}",
    "union_tag_invalid": lambda c: f"must be one of {c['expected_tags']}",
    "value_error": lambda c: str(c["error"]),
    "assertion_error": lambda c: str(c["error"]),
}


def _format_bound(bound: object) -> object:
    """Return a limit in its shortest form, such as 10 instead of 10.0."""
    return int(bound) if isinstance(bound, float) and bound.is_integer() else bound


def explain_error(error: ValidationError, data: Any, whole: str) -> ServiceError:
    """Return a 400 error that describes the first error in C{data}.

    @param whole: the name of the data as a whole: C{body} or C{query}.
    """
    found = error.errors(include_url=False, include_input=False)
    name = _field_path(found[0], data)
    types: dict[str, None] = {}
    for each in found:
        # For a union, each member type reports why the value does not match.
        place = _field_path(each, data)
        if place == name and each["type"].endswith("_type"):
            types[_format_rule(each)] = None
        elif place == name or place.startswith(f"{name}."):
            return make_field_error(place or whole, _format_rule(each))
        else:
            break
    return make_field_error(name or whole, _join_rules([*types]))


def _join_rules(rules: Sequence[str]) -> str:
    """Combine several rules into one phrase: C{must be true or false, a string or a list}."""
    first, *more = (rule.removeprefix(_MUST) for rule in rules)
    return rules[0] if not more else f"{_MUST}{', '.join([first, *more[:-1]])} or {more[-1]}"


def _format_rule(found: ErrorDetails) -> str:
    kind, context = found["type"], found.get("ctx", {})
    if kind in _FIXED:
        return _FIXED[kind]
    if kind in _BOUND:
        return _BOUND[kind](context)
    return found["msg"].replace("Input should", "must").replace("Value error, ", "")


def _field_path(found: ErrorDetails, data: Any) -> str:
    """Return the dotted path of a field, without pydantic's names of union members."""
    parts: list[str] = []
    for step in found["loc"]:
        if _has_data_at_step(data, step):
            data = data[step]
        elif found["type"] != "missing" or step != found["loc"][-1]:
            continue
        parts.append(str(step))
    return clean_name(".".join(parts), 200)


def _has_data_at_step(data: Any, step: int | str) -> bool:
    if isinstance(data, dict):
        return step in data
    return isinstance(data, list) and isinstance(step, int) and step < len(data)


def clean_name(name: str, limit: int = 64) -> str:
    """Return a name from the request, shortened and cleaned for an error text."""
    # A name may be as long as a body: process only the part that is shown.
    clean = name[: limit + 1].encode("utf-8", "backslashreplace").decode()
    printable = "".join(c if c.isprintable() else "?" for c in clean)
    return printable if len(printable) <= limit else printable[: limit - 3] + "..."
