"""MCP server on standard input and output, with one message per line."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, BinaryIO

from tservice.client.errors import ApiError, Unusable
from tservice.client.mcp.notices import NOTICE_EVENTS, build_notice, excludes_notices
from tservice.client.mcp.protocol import (
    BAD_REQUEST,
    BROKEN,
    MOST_CALLS,
    Message,
    RpcError,
    RpcRequest,
    RpcServer,
    build_error_response,
    calls_service,
    decode_json,
    validate_batch,
    validate_message,
)
from tservice.client.synchronous import run_synchronously

LINE = 4 * 1024 * 1024
"""Maximum length of a message in bytes."""
MAX_CONCURRENT_CALLS = MOST_CALLS
"""Maximum number of concurrent service calls. Further calls are refused."""
GRACE = 5.0
"""Seconds to wait for unfinished replies after the end of the input."""
AGAIN = 5.0
"""Seconds to wait before reopening an event stream that failed or was lost."""
LISTENER = "mcp-notices"
"""Name of the thread that reads the service's events."""

Events = Callable[[], Iterable[tuple[str, Any]]]
"""Function that returns an iterator over names and payloads of events. The iterator raises
L{Unusable} at its end.
"""


Respond = Callable[[Message], None]
"""Callback that receives the reply to one request."""


class StdioServer:
    """Server that reads messages, and writes each reply as soon as it is complete.

    A call that waits does not delay others.
    """

    def __init__(
        self,
        server: RpcServer,
        source: BinaryIO,
        sink: BinaryIO,
        events: Events | None = None,
    ) -> None:
        """Create a server.

        @param events: source of events for notices, used once the client has initialized. C{None}
            sends no notices.
        """
        self._server, self._source, self._sink = server, source, sink
        self._events, self._quiet, self._over = events, False, threading.Event()
        self._listening: threading.Thread | None = None
        self._version: str | None = None
        self._writing = threading.Lock()
        self._changed = threading.Condition()
        # Service calls under way; None: the answer is being written.
        self._unanswered: dict[object, tuple[RpcRequest, Respond] | None] = {}

    def serve_messages(self) -> None:
        """Process messages until the end of the input."""
        while line := self._source.readline(LINE + 1):
            if len(line) > LINE:
                self._skip_line(line)
                self._send_error(
                    self._write_message,
                    RpcError(BAD_REQUEST, f"a message has {LINE} bytes at most"),
                )
            elif line.strip():
                self._handle_line(line)
        self._over.set()
        self._wait_for_unfinished_replies()

    def _handle_line(self, line: bytes) -> None:
        try:
            found = decode_json(line)
            if isinstance(found, list):
                self._handle_batch(validate_batch(found, self._version))
                return
            call = validate_message(found)
        except RpcError as fault:
            self._send_error(self._write_message, fault)
            return
        if call is not None:
            self._process_request(call, self._write_message)

    def _handle_batch(self, entries: Sequence[RpcRequest | RpcError]) -> None:
        if not entries:
            return
        answers = _BatchAnswers(len(entries), self._write_message)
        for each in entries:
            if isinstance(each, RpcError):
                self._send_error(answers.add, each)
            else:
                self._process_request(each, answers.add)

    def _process_request(self, call: RpcRequest, respond: Respond) -> None:
        """Process a request, in a separate thread if it calls the service."""
        if not calls_service(call.method):
            self._answer_in_this_thread(call, respond)
            return
        own = object()
        with self._changed:
            is_full = len(self._unanswered) >= MAX_CONCURRENT_CALLS
            if not is_full:
                self._unanswered[own] = (call, respond)
        if is_full:
            self._send_error(
                respond,
                RpcError(BAD_REQUEST, f"over {MAX_CONCURRENT_CALLS} calls at once", call.key),
            )
            return
        # A daemon thread: a waiting call does not keep the program from ending.
        threading.Thread(target=self._answer_in_thread, args=(own, call), daemon=True).start()

    def _answer_in_this_thread(self, call: RpcRequest, respond: Respond) -> None:
        answer = run_synchronously(self._server.answer_request(call))
        result = answer.get("result")
        if call.method == "logging/setLevel" and result is not None:
            # Before the answer: a client that has it gets no further notices.
            self._quiet = excludes_notices(call.params["level"])
        respond(answer)
        if call.method == "initialize" and result is not None:
            self._version = result["protocolVersion"]
            self._start_listener()

    def _start_listener(self) -> None:
        if self._events and self._listening is None:
            # A daemon thread: it waits for events that may never come.
            self._listening = threading.Thread(
                target=self._forward_events, name=LISTENER, daemon=True
            )
            self._listening.start()

    def _forward_events(self) -> None:
        while not self._over.is_set():
            try:
                for name, payload in self._events() if self._events else ():
                    if name in NOTICE_EVENTS and not self._quiet:
                        self._write_message(build_notice(name, payload))
            except ApiError:
                # Refused; a retry would be refused too.
                return
            except Unusable:
                self._over.wait(AGAIN)

    def _answer_in_thread(self, own: object, call: RpcRequest) -> None:
        self._respond_once(own, run_synchronously(self._server.answer_request(call)))

    def _respond_once(self, own: object, answer: Message) -> None:
        """Send the reply to a call, unless a reply was sent already."""
        with self._changed:
            owed = self._unanswered.get(own)
            if owed is None:
                return
            self._unanswered[own] = None
        try:
            owed[1](answer)
        finally:
            with self._changed:
                del self._unanswered[own]
                self._changed.notify_all()

    def _wait_for_unfinished_replies(self) -> None:
        """Wait L{GRACE} seconds for unfinished replies, then refuse the remaining calls."""
        with self._changed:
            self._changed.wait_for(lambda: not self._unanswered, GRACE)
            late = [(own, owed[0]) for own, owed in self._unanswered.items() if owed is not None]
        for own, call in late:
            fault = RpcError(BROKEN, "the input ended before the answer was there")
            self._respond_once(own, build_error_response(call.key, fault))
        with self._changed:
            self._changed.wait_for(lambda: not self._unanswered, GRACE)

    def _send_error(self, respond: Respond, fault: RpcError) -> None:
        respond(build_error_response(fault.key, fault))

    def _write_message(self, message: Message | list[Message]) -> None:
        # Escaped: an id may hold half a surrogate pair, which cannot be encoded.
        line = json.dumps(message).encode() + b"\n"
        with self._writing:
            try:
                self._sink.write(line)
                self._sink.flush()
            except (BrokenPipeError, ValueError):
                # The client is gone; the end of the input follows.
                return

    def _skip_line(self, line: bytes) -> None:
        while line and not line.endswith(b"\n"):
            line = self._source.readline(LINE)


class _BatchAnswers:
    """Replies to the requests of one batch, which are written together."""

    def __init__(self, missing: int, write: Callable[[list[Message]], None]) -> None:
        self._missing, self._write = missing, write
        self._answers: list[Message] = []
        self._adding = threading.Lock()

    def add(self, answer: Message) -> None:
        """Add a reply, and write all replies if the batch is complete."""
        with self._adding:
            self._answers.append(answer)
            is_complete = len(self._answers) == self._missing
        if is_complete:
            self._write(self._answers)
