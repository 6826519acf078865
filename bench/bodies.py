"""What the worst body of each route costs the reactor, in this process.

The promise: 5 ms for each MiB begun, in one go, whatever is sent.  A body that is refused counts
like one that is taken, and one that is read in several turns of the reactor costs what the dearest
of them does.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import suppress
from math import ceil
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.python.failure import Failure

from bench.report import Row
from tests.integration.harness import DaemonHarness
from tests.security.harness import SecurityHarness
from tests.unit.http.site_driver import run_turn
from tservice.client.errors import ApiError
from tservice.client.mcp.plan import PlannedRequest
from tservice.client.mcp.protocol import RpcError, RpcServer, validate_message
from tservice.client.mcp.tools import select_tools
from tservice.core.kernel.errors import ServiceError
from tservice.http.operations import Operation
from tservice.http.validation.body import MAX_DIGITS, read_body_yielding
from tservice.mcp_server.routes import parse_message_body

MIB = 1024 * 1024
MS_PER_MIB = 5.0
TIMES = 5
ROUNDS, PAUSE = 5, 0.5
"""How often what seems to cost too much is measured once more, and seconds before each: a machine
that is slow for a moment adds to a cost, and nothing takes from one."""

CROWDS = {
    "objects": b"{},",
    "lists": b"[],",
    "pairs": b'{"a":{}},',
    "empty texts": b'"",',
    "floats": b"1.797693134862315700000000000001e308,",
    "long integers": b"1" * MAX_DIGITS + b",",
    "escaped texts": b'"\\ud83d\\ude00",',
}
TEXTS = {
    "line ends": b"\\n",
    "quotes": b'\\"',
    "backslashes": b"\\\\",
    "escaped letters": b"\\u0041",
    "emoji": b"\\ud83d\\ude00",
    "half emoji": b"\\ud800",
    "UTF-8": "é".encode(),
    "commas": b",",
    "commas and quotes": b',\\"',
    "commas and line ends": b",\\n",
    "commas and backslashes": b",\\\\",
    "digits": b"9",
}


def bodies(operation: Operation) -> Iterator[tuple[str, bytes]]:
    """Names and contents of what may be the worst, as large as the route takes it."""
    size, values = operation.body_limits.size - 100, operation.body_limits.values - 10
    assert operation.body is not None
    fields = [field.alias or name for name, field in operation.body.model_fields.items()]
    for place in [*fields, "x"]:
        start = json.dumps({place: None}).encode().removesuffix(b"null}")
        for name, unit in CROWDS.items():
            marks = len(unit.translate(None, bytes(set(range(256)) - set(b",:[{"))))
            crowd = unit * min(size // len(unit), values // marks)
            yield f"{name} in {place}", start + b"[" + crowd + b"0]}"
            yield f"names of {name} in {place}", start + _named(unit, size, values) + b"}"
        for name, unit in TEXTS.items():
            yield f"{name} in {place}", start + b'"' + unit * (size // len(unit)) + b'"}'
    yield "spaces", b" " * size + b"{}"
    yield "number", b"1" * size
    yield "float", b"0." + b"1" * (size - 2)
    yield "depth", b"[" * size
    yield "names", _named(b"0,", size, values)
    for name, unit in TEXTS.items():
        long = b'"' + unit * ((size - 20) // len(unit) // 2) + b'":0'
        yield f"a long name of {name}", b"{" + long + b"}"
        yield f"a long name of {name} twice", b"{" + long + b"," + long + b"}"


def _named(unit: bytes, size: int, values: int) -> bytes:
    parts, left = [], min(values // 4, size // (len(unit) + 8))
    parts = [b'"%x":%b' % (number, unit) for number in range(left)]
    return b"{" + b"".join(parts) + b'"":0}'


def cost(operation: Operation, raw: bytes) -> float:
    """Milliseconds of the dearest turn of reading C{raw}, the fastest of some times."""
    return min(dearest(lambda clock: _read(operation, raw, clock)) for _ in range(TIMES))


async def _read(operation: Operation, raw: bytes, clock: Clock) -> None:
    model, values = operation.body, operation.body_limits.values
    assert model is not None
    with suppress(ServiceError):
        await read_body_yielding(raw, "application/json", model, True, values, clock)


def dearest(work: Callable[[Clock], Coroutine[Any, Any, None]]) -> float:
    """Milliseconds of that turn of C{work} which takes longest."""
    clock = Clock()
    begin = time.thread_time()
    done = Deferred.fromCoroutine(work(clock))
    most = time.thread_time() - begin
    while not done.called:
        begin = time.thread_time()
        run_turn(clock)
        most = max(most, time.thread_time() - begin)
    if isinstance(done.result, Failure):
        done.result.raiseException()
    return most * 1000


def row(operation: Operation) -> Row:
    """The worst of a route."""
    sent = dict(bodies(operation))
    costs = settled(sent, lambda raw: cost(operation, raw))
    worst = max(costs, key=lambda name: costs[name] / ceil(len(sent[name]) / MIB))
    spent, size = costs[worst], len(sent[worst])
    return Row(
        name=f"{operation.method} {operation.path}: {worst}, {size / 1024:.0f} KiB",
        ours=spent,
        peer=promised(sent[worst]),
        unit="ms",
        against="5 ms a MiB",
        at_most=1.0,
    )


def settled(sent: Mapping[str, bytes], cost: Callable[[bytes], float]) -> dict[str, float]:
    """What each costs, in milliseconds; the least of several times where it seems too much."""
    costs = {name: cost(raw) for name, raw in sent.items()}
    for _ in range(ROUNDS):
        over = [name for name, raw in sent.items() if costs[name] > promised(raw)]
        if over:
            time.sleep(PAUSE)
        for name in over:
            costs[name] = min(costs[name], cost(sent[name]))
    return costs


def promised(raw: bytes) -> float:
    """Milliseconds that it may cost."""
    return MS_PER_MIB * ceil(len(raw) / MIB)


def messages() -> Iterator[tuple[str, bytes]]:
    """Names and contents of messages to C{/mcp} that may be the worst, as large as can be."""
    for name, unit in (TEXTS | CROWDS).items():
        many = min(MIB - 400, 9_900 * len(unit)) if name in CROWDS else MIB - 400
        body = unit * (many // len(unit))
        value = b"[" + body + b"0]" if name in CROWDS else b'"' + body + b'"'
        for place, begin, end in (
            ("an id", b'{"jsonrpc":"2.0","method":"ping","id":', b"}"),
            ("a method", b'{"jsonrpc":"2.0","id":1,"method":', b"}"),
            ("a tool", _CALL + b'{"name":', b"}}"),
            ("an argument", _tool("read_screen", "lines"), b"}}}"),
            ("a text", _tool("send_input", "text"), b"}}}"),
            ("a wait", _tool("wait", "sessionIds"), b"}}}"),
        ):
            yield f"{name} in {place}", begin + value + end


_CALL = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":'


def _tool(name: str, argument: str) -> bytes:
    """The begin of a call, up to the last argument's value."""
    return _CALL + b'{"name":"%b","arguments":{"sessionId":"x","%b":' % (
        name.encode(),
        argument.encode(),
    )


async def _nowhere(ask: PlannedRequest) -> Any:
    raise ApiError(404, "NOT_FOUND", ask.path)


def message_cost(server: RpcServer, raw: bytes) -> float:
    """The same of reading, judging and refusing a message."""
    return min(dearest(lambda clock: _answer(server, raw, clock)) for _ in range(TIMES))


async def _answer(server: RpcServer, raw: bytes, clock: Clock) -> None:
    with suppress(RpcError):
        asked = validate_message(await parse_message_body(raw, clock))
        if asked is not None:
            await server.answer_request(asked)


def message_row() -> Row:
    """The worst message to C{/mcp}."""
    server = RpcServer(select_tools(None), _nowhere)
    costs = settled(dict(messages()), lambda raw: message_cost(server, raw))
    worst = max(costs, key=lambda name: costs[name])
    return Row(
        name=f"POST /mcp: {worst}",
        ours=costs[worst],
        peer=MS_PER_MIB,
        unit="ms",
        against="5 ms a MiB",
        at_most=1.0,
    )


def run(_: DaemonHarness) -> list[Row]:
    """One row a route that takes a body, and one of C{/mcp}."""
    world = SecurityHarness()
    try:
        rows = [row(each) for each in world.operations if each.body is not None]
        return [*rows, message_row()]
    finally:
        world.close()
