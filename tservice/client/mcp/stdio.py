"""The server on standard input and output: one message a line; it ends with its input."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable
from typing import Any, BinaryIO

from tservice.client.errors import ApiError, Unusable
from tservice.client.finished import finished
from tservice.client.mcp.notices import TOLD, is_quiet, notice
from tservice.client.mcp.protocol import (
    BAD_REQUEST,
    Message,
    RpcCall,
    RpcFault,
    RpcServer,
    parse,
    refused,
)

LINE = 4 * 1024 * 1024
"""Bytes of a message."""
AT_ONCE = 16
"""Calls that are answered at the same time; one more is refused."""
GRACE = 5.0
"""Seconds for the answers that are still owed when the input ends."""
AGAIN = 5.0
"""Seconds until events are listened to again that could not be heard, or broke off."""
LISTENER = "mcp-notices"
"""The name of the thread that listens to them."""

Events = Callable[[], Iterable[tuple[str, Any]]]
"""Names and payloads of the service's events; ends by L{Unusable}."""


class Stdio:
    """Reads messages, and writes answers as they come: one that waits holds up no other."""

    def __init__(
        self,
        server: RpcServer,
        source: BinaryIO,
        sink: BinaryIO,
        events: Events | None = None,
    ) -> None:
        """@param events: what notices are made of, once the client has introduced itself."""
        self._server, self._source, self._sink = server, source, sink
        self._events, self._quiet, self._over = events, False, threading.Event()
        self._listening: threading.Thread | None = None
        self._writing = threading.Lock()
        self._room = threading.BoundedSemaphore(AT_ONCE)
        self._threads: set[threading.Thread] = set()

    def serve(self) -> None:
        """Until the input ends."""
        while line := self._source.readline(LINE + 1):
            if len(line) > LINE:
                self._skip(line)
                self._write(
                    refused(None, RpcFault(BAD_REQUEST, f"a message has {LINE} bytes at most"))
                )
            elif line.strip():
                self._receive(line)
        self._over.set()
        for thread in tuple(self._threads):
            thread.join(GRACE)

    def _receive(self, line: bytes) -> None:
        try:
            call = parse(line)
        except RpcFault as fault:
            self._write(refused(None, fault))
            return
        if call is None:
            return
        if call.method != "tools/call" and not call.method.startswith("resources/"):
            self._answer_at_once(call)
        elif self._room.acquire(blocking=False):
            self._start(call)
        else:
            self._write(refused(call.key, RpcFault(BAD_REQUEST, f"over {AT_ONCE} calls at once")))

    def _answer_at_once(self, call: RpcCall) -> None:
        if call.method == "logging/setLevel":
            # Before the answer: whoever has that is told no more.
            self._quiet = is_quiet(call.params.get("level"))
        self._write(finished(self._server.answer(call)))
        if call.method == "initialize" and self._events and self._listening is None:
            # A daemon: it waits for events that may never come.
            self._listening = threading.Thread(target=self._listen, name=LISTENER, daemon=True)
            self._listening.start()

    def _listen(self) -> None:
        while not self._over.is_set():
            try:
                for name, payload in self._events() if self._events else ():
                    if name in TOLD and not self._quiet:
                        self._write(notice(name, payload))
            except ApiError:
                # Refused, and so it would be the next time.
                return
            except Unusable:
                self._over.wait(AGAIN)

    def _start(self, call: RpcCall) -> None:
        # A daemon: one that still waits does not keep the program from ending.
        thread = threading.Thread(target=self._answer, args=(call,), daemon=True)
        self._threads.add(thread)
        thread.start()

    def _answer(self, call: RpcCall) -> None:
        try:
            self._write(finished(self._server.answer(call)))
        finally:
            self._threads.discard(threading.current_thread())
            self._room.release()

    def _write(self, message: Message) -> None:
        line = json.dumps(message, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        with self._writing:
            try:
                self._sink.write(line)
                self._sink.flush()
            except (BrokenPipeError, ValueError):
                # Whoever asked is gone, and its end of the input follows.
                return

    def _skip(self, line: bytes) -> None:
        while line and not line.endswith(b"\n"):
            line = self._source.readline(LINE)
