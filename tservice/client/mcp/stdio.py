"""MCP server on standard input and output: one message a line, until the input ends."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, BinaryIO

from tservice.client.errors import ApiError, Unusable
from tservice.client.finished import finished
from tservice.client.mcp.notices import TOLD, is_quiet, notice
from tservice.client.mcp.protocol import (
    BAD_REQUEST,
    BROKEN,
    MOST_CALLS,
    Message,
    RpcCall,
    RpcFault,
    RpcServer,
    asks_service,
    decode,
    entries_of,
    judge,
    refused,
)

LINE = 4 * 1024 * 1024
"""Largest message in bytes."""
AT_ONCE = MOST_CALLS
"""Limit of concurrent service calls; a further call is refused."""
GRACE = 5.0
"""Seconds to wait for unfinished answers when the input ends."""
AGAIN = 5.0
"""Seconds before a failed or broken event stream is opened again."""
LISTENER = "mcp-notices"
"""Name of the thread that listens to events."""

Events = Callable[[], Iterable[tuple[str, Any]]]
"""Iterator over names and payloads of the service's events; ends by L{Unusable}."""


Respond = Callable[[Message], None]
"""Callback that takes the answer to one request."""


class Stdio:
    """Server that reads messages and writes answers as they complete; a waiting call delays no
    other.
    """

    def __init__(
        self,
        server: RpcServer,
        source: BinaryIO,
        sink: BinaryIO,
        events: Events | None = None,
    ) -> None:
        """Create a server.

        @param events: source of notices, used after the client has initialized.
        """
        self._server, self._source, self._sink = server, source, sink
        self._events, self._quiet, self._over = events, False, threading.Event()
        self._listening: threading.Thread | None = None
        self._version: str | None = None
        self._writing = threading.Lock()
        self._changed = threading.Condition()
        # Service calls under way; None: the answer is being written.
        self._owed: dict[object, tuple[RpcCall, Respond] | None] = {}

    def serve(self) -> None:
        """Serve until the input ends."""
        while line := self._source.readline(LINE + 1):
            if len(line) > LINE:
                self._skip(line)
                self._refuse(
                    self._write, RpcFault(BAD_REQUEST, f"a message has {LINE} bytes at most")
                )
            elif line.strip():
                self._receive(line)
        self._over.set()
        self._settle()

    def _receive(self, line: bytes) -> None:
        try:
            found = decode(line)
            if isinstance(found, list):
                self._receive_batch(entries_of(found, self._version))
                return
            call = judge(found)
        except RpcFault as fault:
            self._refuse(self._write, fault)
            return
        if call is not None:
            self._begin(call, self._write)

    def _receive_batch(self, entries: Sequence[RpcCall | RpcFault]) -> None:
        if not entries:
            return
        answers = _Batch(len(entries), self._write)
        for each in entries:
            if isinstance(each, RpcFault):
                self._refuse(answers.add, each)
            else:
                self._begin(each, answers.add)

    def _begin(self, call: RpcCall, respond: Respond) -> None:
        """Answer a request, directly or in a separate thread."""
        if not asks_service(call.method):
            self._answer_at_once(call, respond)
            return
        own = object()
        with self._changed:
            is_full = len(self._owed) >= AT_ONCE
            if not is_full:
                self._owed[own] = (call, respond)
        if is_full:
            self._refuse(respond, RpcFault(BAD_REQUEST, f"over {AT_ONCE} calls at once", call.key))
            return
        # A daemon thread: a waiting call does not keep the program from ending.
        threading.Thread(target=self._answer, args=(own, call), daemon=True).start()

    def _answer_at_once(self, call: RpcCall, respond: Respond) -> None:
        answer = finished(self._server.answer(call))
        result = answer.get("result")
        if call.method == "logging/setLevel" and result is not None:
            # Before the answer: a client that has it gets no further notices.
            self._quiet = is_quiet(call.params["level"])
        respond(answer)
        if call.method == "initialize" and result is not None:
            self._version = result["protocolVersion"]
            self._listen_once()

    def _listen_once(self) -> None:
        if self._events and self._listening is None:
            # A daemon thread: it waits for events that may never come.
            self._listening = threading.Thread(target=self._listen, name=LISTENER, daemon=True)
            self._listening.start()

    def _listen(self) -> None:
        while not self._over.is_set():
            try:
                for name, payload in self._events() if self._events else ():
                    if name in TOLD and not self._quiet:
                        self._write(notice(name, payload))
            except ApiError:
                # Refused; a retry would be refused too.
                return
            except Unusable:
                self._over.wait(AGAIN)

    def _answer(self, own: object, call: RpcCall) -> None:
        self._respond(own, finished(self._server.answer(call)))

    def _respond(self, own: object, answer: Message) -> None:
        """Send the answer to a call, unless it was sent already."""
        with self._changed:
            owed = self._owed.get(own)
            if owed is None:
                return
            self._owed[own] = None
        try:
            owed[1](answer)
        finally:
            with self._changed:
                del self._owed[own]
                self._changed.notify_all()

    def _settle(self) -> None:
        """Wait shortly for unfinished answers, then refuse the remaining calls."""
        with self._changed:
            self._changed.wait_for(lambda: not self._owed, GRACE)
            late = [(own, owed[0]) for own, owed in self._owed.items() if owed is not None]
        for own, call in late:
            fault = RpcFault(BROKEN, "the input ended before the answer was there")
            self._respond(own, refused(call.key, fault))
        with self._changed:
            self._changed.wait_for(lambda: not self._owed, GRACE)

    def _refuse(self, respond: Respond, fault: RpcFault) -> None:
        respond(refused(fault.key, fault))

    def _write(self, message: Message | list[Message]) -> None:
        # Escaped: an id may hold half a surrogate pair, which cannot be encoded.
        line = json.dumps(message).encode() + b"\n"
        with self._writing:
            try:
                self._sink.write(line)
                self._sink.flush()
            except (BrokenPipeError, ValueError):
                # The client is gone; the end of the input follows.
                return

    def _skip(self, line: bytes) -> None:
        while line and not line.endswith(b"\n"):
            line = self._source.readline(LINE)


class _Batch:
    """Answers to the requests of one batch, written together when complete."""

    def __init__(self, missing: int, write: Callable[[list[Message]], None]) -> None:
        self._missing, self._write = missing, write
        self._answers: list[Message] = []
        self._adding = threading.Lock()

    def add(self, answer: Message) -> None:
        """Add an answer."""
        with self._adding:
            self._answers.append(answer)
            is_complete = len(self._answers) == self._missing
        if is_complete:
            self._write(self._answers)
