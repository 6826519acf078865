"""Whether operations answer what they declare."""

from __future__ import annotations

from collections.abc import Iterable
from types import UnionType
from typing import Any, Union, get_args, get_origin

from attrs import evolve

from tservice.http.operations import Operation, OperationCall, RawReply, ResponseStyle

_UNCHECKED = {ResponseStyle.RAW, ResponseStyle.STREAM, ResponseStyle.WEBSOCKET}


def check_operations(operations: Iterable[Operation]) -> list[Operation]:
    """The same operations; an answer that is no instance of the declared one is an error."""
    return [
        each if each.style in _UNCHECKED or each.response_model is None else _check_operation(each)
        for each in operations
    ]


def _check_operation(operation: Operation) -> Operation:
    async def handler(call: OperationCall) -> object:
        outcome = await operation.handler(call)
        content = outcome.content if isinstance(outcome, RawReply) else outcome
        if not is_answer(content, operation.response_model):
            raise TypeError(f"{operation.method} {operation.path} answered {content!r}")
        return outcome

    return evolve(operation, handler=handler)


def is_answer(content: object, declared: Any) -> bool:
    """Whether C{content} is an instance of a model, of one of several, or a list of them."""
    if get_origin(declared) is list:
        (inner,) = get_args(declared)
        return isinstance(content, list) and all(is_answer(each, inner) for each in content)
    if get_origin(declared) in (Union, UnionType):
        return any(is_answer(content, each) for each in get_args(declared))
    return isinstance(content, declared)
