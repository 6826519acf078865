"""Messages to an MCP server, right and wrong, each with the answer that it has to get."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from attrs import frozen
from hypothesis import strategies as st

from tests.unit.client.mcp.wrong_shapes import WRONG_SHAPES
from tservice.client.mcp.protocol import BATCHES, LONGEST_KEY

RESULT = 0
"""In the place of an error's code: the request is answered with a result."""

Wanted = tuple[str, int]
"""The id of an answer, as JSON, and its code."""


@frozen
class RpcMessage:
    """One message.

    @ivar wanted: the answer; C{None}: there must be none.
    """

    message: Any
    wanted: Wanted | None


@frozen
class RpcLine:
    """What is sent in one go: a message, a batch, or bytes that are neither.

    @ivar wanted: its answers.
    @ivar is_batch: they come as one list.
    """

    raw: bytes
    wanted: tuple[Wanted, ...]
    is_batch: bool = False


def _is_key(key: object) -> bool:
    if isinstance(key, str):
        return len(key) <= LONGEST_KEY
    return isinstance(key, int | float) and not isinstance(key, bool)


_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_keys = st.integers(-(2**53), 2**53) | _texts | st.floats(-1e6, 1e6)
_WRONG_KEYS: list[Any] = [None, True, [], {}, ["x"], "x" * (LONGEST_KEY + 1)]
_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
    max_leaves=6,
)
_no_objects = _values.filter(lambda value: not isinstance(value, dict))
_no_texts = _values.filter(lambda value: not isinstance(value, str))

RIGHT: tuple[tuple[str, dict[str, Any]], ...] = (
    ("ping", {}),
    ("ping", {"_meta": {"progressToken": "p"}, "more": [1]}),
    ("tools/list", {}),
    ("resources/templates/list", {"cursor": ""}),
    ("resources/list", {}),
    ("tools/call", {"name": "list_sessions"}),
    ("tools/call", {"name": "list_cases", "arguments": {}}),
    ("logging/setLevel", {"level": "error"}),
)


def _is_plain(shape: tuple[str, dict[str, Any]]) -> bool:
    """Half a surrogate pair is no JSON where UTF-8 is asked for."""
    return "\\ud8" not in json.dumps(shape)


_WRONG = tuple(filter(_is_plain, WRONG_SHAPES))


@st.composite
def requests(draw: st.DrawFn) -> RpcMessage:
    """Requests with a good id: right ones, and ones with each kind of fault."""
    key = draw(_keys)
    fault = draw(st.sampled_from(["none", "shape", "no object", "unknown", "method", "version"]))
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": key}
    code = {"none": RESULT, "shape": -32602, "no object": -32602, "unknown": -32601}.get(fault)
    method, params = draw(st.sampled_from(_WRONG if fault == "shape" else RIGHT))
    message |= {"method": method, "params": params}
    if fault == "none" and not params and draw(st.booleans()):
        del message["params"]
    elif fault == "no object":
        message["params"] = draw(_no_objects)
    elif fault == "unknown":
        message["method"] = f"no/{draw(_texts)}"
    elif fault == "method":
        message["method"] = draw(_no_texts)
    elif fault == "version":
        message["jsonrpc"] = draw(st.sampled_from(["1.0", 2, None, [], "2"]))
    return RpcMessage(message, (json.dumps(key), -32600 if code is None else code))


@st.composite
def other_messages(draw: st.DrawFn) -> RpcMessage:
    """Notifications, responses, requests with a bad id, and what is no message."""
    kind = draw(st.sampled_from(["notification", "response", "bad id", "nothing"]))
    if kind == "nothing":
        return RpcMessage(
            draw(_values.filter(lambda each: not isinstance(each, list | dict))), _REFUSED
        )
    message: dict[str, Any] = {"jsonrpc": "2.0"}
    if kind == "response":
        message |= {"id": draw(_keys | st.none())}
        message[draw(st.sampled_from(["result", "error"]))] = draw(_values)
        return RpcMessage(message, None)
    message |= {"method": draw(_texts | st.sampled_from([each for each, _ in RIGHT]))}
    if draw(st.booleans()):
        message["params"] = draw(_values)
    if kind == "bad id":
        message["id"] = draw(st.sampled_from(_WRONG_KEYS))
        return RpcMessage(message, _REFUSED)
    return RpcMessage(message, None)


_REFUSED: Wanted = ("null", -32600)
_cases = requests() | other_messages()
_nonsense = st.sampled_from(
    [b"{", b"nul", b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}', b"\xff\xfe", b"]", b"{'a':1}"]
)


@st.composite
def lines(draw: st.DrawFn, version: str) -> RpcLine:
    """What a client of a revision may send, and what it must not."""
    kind = draw(st.sampled_from(["one", "one", "one", "batch", "nonsense"]))
    if kind == "nonsense":
        return RpcLine(draw(_nonsense), (("null", -32700),))
    if kind == "one":
        case = draw(_cases)
        return RpcLine(_raw(case.message), () if case.wanted is None else (case.wanted,))
    cases = draw(st.lists(_cases, max_size=6))
    raw = _raw([case.message for case in cases])
    if version != BATCHES or not cases:
        return RpcLine(raw, (_REFUSED,))
    return RpcLine(raw, tuple(filter(None, map(_in_batch, cases))), is_batch=True)


def _in_batch(case: RpcMessage) -> Wanted | None:
    """The answer to a part of a batch, of which a greeting must be none."""
    if case.wanted is None or case.wanted[1] != -32602 or case.message["method"] != "initialize":
        return case.wanted
    return case.wanted[0], -32600 if isinstance(case.message["params"], dict) else -32602


def _raw(message: object) -> bytes:
    return json.dumps(message).encode()


def answered_codes(answers: Iterable[Any]) -> Counter[Wanted]:
    """Ids and codes of answers, batches taken apart."""
    found: Counter[Wanted] = Counter()
    for answer in answers:
        for each in answer if isinstance(answer, list) else [answer]:
            code = RESULT if "result" in each else each["error"]["code"]
            found[json.dumps(each["id"]), code] += 1
    return found


def expected_codes(sent: Sequence[RpcLine]) -> Counter[Wanted]:
    """What L{answered_codes} has to be."""
    return Counter(answer for line in sent for answer in line.wanted)
