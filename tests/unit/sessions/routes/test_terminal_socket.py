"""One client's conversation: frames in, acknowledgements and refusals out."""

from __future__ import annotations

import json
from typing import Any, cast

from twisted.internet.defer import Deferred, succeed
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer

from tests.fakes.multiplexer.multiplexer import FakeMultiplexer
from tests.unit.sessions.output.terminal_wire import SPEC
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ErrorCode, ServiceError, make_not_found_error
from tservice.http.websockets.frames import SocketMessage
from tservice.http.websockets.interface import ISocket
from tservice.sessions.interfaces import InputDelivery, ISessions
from tservice.sessions.output.terminal_sockets import TerminalSockets
from tservice.sessions.record.requests import InputRequest
from tservice.sessions.record.viewport import SizeRequest
from tservice.sessions.routes.terminal_socket import RESIZE_SECONDS, SharedFrames, TerminalSocket


@implementer(ISocket)
class FakeChannel:
    """An open WebSocket that keeps what it was sent and how it was closed."""

    buffered = 0
    writable = True

    def __init__(self) -> None:
        self.frames: list[dict[str, Any]] = []
        self.data = b""
        self.closed: list[tuple[int, str]] = []

    def send(self, message: SocketMessage) -> None:
        self.data += message.payload

    def send_text(self, text: str) -> None:
        frame = json.loads(text)
        self.frames.append(frame)
        if frame["t"] == "snapshot":
            self.data = b""

    def send_binary(self, data: bytes) -> None:
        self.data += data

    def pause_reading(self) -> None:
        raise AssertionError("terminals read whatever comes")

    resume_reading = pause_reading

    def close(self, code: int = 1000, reason: str = "") -> None:
        self.closed.append((code, reason))

    def kinds(self) -> list[str]:
        return [frame["t"] for frame in self.frames]


class SocketSessions:
    """Session C{s} of ann; inputs are answered as the test says."""

    def __init__(self) -> None:
        self.inputs: list[InputRequest] = []
        self.answer: InputDelivery | Exception = InputDelivery(delivered=True)
        self.size = (80, 24)
        self.sizes: list[tuple[int, int]] = []
        self.viewers: list[str | None] = []
        self.left: list[tuple[str, str]] = []
        self.busy: Deferred[None] = succeed(None)

    def get(self, session_id: str, caller: Identity | None = None) -> str:
        if session_id != "s" or (caller is not None and caller.username != "ann"):
            raise make_not_found_error("Session")
        return session_id

    async def send_input(self, session_id: str, request: InputRequest) -> InputDelivery:
        self.inputs.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def resize_pane(self, session_id: str, wish: SizeRequest) -> tuple[int, int]:
        self.sizes.append((wish.cols, wish.rows))
        self.viewers.append(wish.viewer)
        await self.busy
        return self.size

    async def remove_viewer(self, session_id: str, viewer: str) -> None:
        self.left.append((session_id, viewer))


class SocketTests(SynchronousTestCase):
    """L{TerminalSocket}."""

    def setUp(self) -> None:
        clock = self.clock = Clock()
        self.mux = FakeMultiplexer(clock)
        pane = self.successResultOf(Deferred.fromCoroutine(self.mux.create_pane(SPEC)))
        self.sessions = SocketSessions()
        self.typed: list[int] = []
        self.sockets = TerminalSockets(clock, lambda session_id: pane)

    def open(self, session_id: str = "s", user: str = "ann") -> tuple[TerminalSocket, FakeChannel]:
        socket = TerminalSocket(
            cast(ISessions, self.sessions),
            self.sockets,
            SharedFrames(),
            session_id=session_id,
            caller=Identity(username=user, admin=False),
            cid="c",
            epoch=None,
            since=None,
            typed=self.typed.append,
        )
        channel = FakeChannel()
        socket.socket_opened(channel)
        return socket, channel

    def say(self, socket: TerminalSocket, **message: object) -> None:
        socket.text_received(json.dumps(message))

    def test_socket_input_is_typed_raw_under_its_client_id(self) -> None:
        socket, channel = self.open()
        self.say(socket, t="i", d="ls\r", seq=4)
        want = InputRequest(
            text="ls\r",
            use_mux=False,
            client_id="c",
            seq=4,
            may_wait=True,
            sender=Identity(username="ann", admin=False),
        )
        self.assertEqual([want], self.sessions.inputs)
        self.assertEqual({"t": "ack", "seq": 4}, channel.frames[-1])

    def test_terminal_reports_are_not_typing(self) -> None:
        socket, _ = self.open()
        self.say(socket, t="i", d="\x1b[?1;2c\x1b[I", seq=1)
        self.say(socket, t="i", d="ls", seq=2)
        self.assertEqual(2, len(self.sessions.inputs))
        self.assertEqual([2], self.typed)

    def test_duplicate_is_acknowledged_with_the_last_number(self) -> None:
        self.sessions.answer = InputDelivery(delivered=False, duplicate=True, last=9)
        socket, channel = self.open()
        self.say(socket, t="i", d="x", seq=4)
        self.assertEqual({"t": "ack", "seq": 4, "dup": True, "last": 9}, channel.frames[-1])

    def test_input_kept_for_its_host_is_acknowledged_as_buffered(self) -> None:
        """What did not fit was not accepted: its number is free."""
        socket, channel = self.open()
        self.sessions.answer = InputDelivery(delivered=False, buffered=True)
        self.say(socket, t="i", d="x", seq=4)
        self.assertEqual({"t": "ack", "seq": 4, "buffered": True}, channel.frames[-1])
        self.sessions.answer = InputDelivery(delivered=False, buffered=True, dropped=True)
        self.say(socket, t="i", d="x", seq=5)
        self.assertEqual({"t": "ack", "seq": 5, "err": "OPERATION_FAILED"}, channel.frames[-1])
        self.assertEqual([1], self.typed)

    def test_refused_input_has_its_reason(self) -> None:
        self.sessions.answer = ServiceError(ErrorCode.PAYLOAD_TOO_LARGE, "too long")
        socket, channel = self.open()
        self.say(socket, t="i", d="x", seq=4)
        self.assertEqual({"t": "ack", "seq": 4, "err": "PAYLOAD_TOO_LARGE"}, channel.frames[-1])
        self.say(socket, t="i", d="x")
        self.assertEqual({"t": "ack", "err": "PAYLOAD_TOO_LARGE"}, channel.frames[-1])

    def test_unnumbered_input_is_not_acknowledged(self) -> None:
        socket, channel = self.open()
        self.say(socket, t="i", d="x")
        self.assertIsNone(self.sessions.inputs[0].client_id)
        self.assertNotIn("ack", channel.kinds())

    def test_unexpected_socket_error_is_logged_and_answered(self) -> None:
        self.sessions.answer = ZeroDivisionError()
        socket, channel = self.open()
        self.say(socket, t="i", d="x", seq=1)
        self.assertEqual({"t": "ack", "seq": 1, "err": "INTERNAL_ERROR"}, channel.frames[-1])
        self.assertEqual(1, len(self.flushLoggedErrors(ZeroDivisionError)))

    def test_refused_size_is_answered_to_its_client(self) -> None:
        socket, channel = self.open()
        self.say(socket, t="z", c=80, r=24)
        self.assertNotIn("size", channel.kinds())
        self.clock.advance(RESIZE_SECONDS)
        self.say(socket, t="z", c=40, r=20, v="mobile")
        self.assertEqual({"t": "size", "c": 80, "r": 24}, channel.frames[-1])

    def test_closed_socket_gives_the_size_back_once(self) -> None:
        socket, _ = self.open()
        self.say(socket, t="z", c=80, r=24)
        self.assertEqual(["c"], self.sessions.viewers)
        socket.socket_closed(1001)
        socket.socket_closed(1001)
        self.assertEqual([("s", "c")], self.sessions.left)

    def test_replaced_socket_keeps_the_viewer(self) -> None:
        first, _ = self.open()
        second, _ = self.open()
        first.socket_closed(1000)
        self.assertEqual([], self.sessions.left)
        second.socket_closed(1001)
        self.assertEqual([("s", "c")], self.sessions.left)

    def test_refused_socket_has_no_size(self) -> None:
        self.open(user="bob")[0].socket_closed(1000)
        self.assertEqual([], self.sessions.left)

    def test_last_of_many_sizes_is_applied(self) -> None:
        socket, _ = self.open()
        for second in range(4):
            for number in range(1, 500):
                self.say(socket, t="z", c=number, r=100 + second)
            self.clock.advance(RESIZE_SECONDS)
        self.assertEqual([(1, 100), *((499, 100 + second) for second in range(4))],
                         self.sessions.sizes)  # fmt: skip
        self.clock.advance(RESIZE_SECONDS)
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_sizes_are_applied_one_at_a_time(self) -> None:
        self.sessions.busy = Deferred()
        socket, _ = self.open()
        self.say(socket, t="z", c=50, r=20)
        self.clock.advance(RESIZE_SECONDS)
        self.say(socket, t="z", c=60, r=20)
        self.say(socket, t="z", c=70, r=20)
        self.assertEqual([(50, 20)], self.sessions.sizes)
        busy, self.sessions.busy = self.sessions.busy, succeed(None)
        busy.callback(None)
        self.assertEqual([(50, 20), (70, 20)], self.sessions.sizes)

    def test_pending_size_is_dropped_with_the_socket(self) -> None:
        for end in (lambda s: s.socket_closed(1006), lambda s: s.binary_received(b"x")):
            self.sessions.sizes.clear()
            socket, _ = self.open()
            for cols in (50, 60):
                self.say(socket, t="z", c=cols, r=20)
            end(socket)
            self.clock.advance(1)
            self.assertEqual([(50, 20)], self.sessions.sizes)
            self.assertEqual([], self.clock.getDelayedCalls())

    def test_malformed_frames_close_with_1003(self) -> None:
        for send in (lambda s: s.text_received("[]"), lambda s: s.binary_received(b"x")):
            socket, channel = self.open()
            send(socket)
            self.assertEqual([1003], [code for code, _ in channel.closed])
            self.assertEqual(0, self.sockets.count_sockets())

    def test_unknown_frame_types_are_ignored(self) -> None:
        socket, channel = self.open()
        self.say(socket, t="new in version 2")
        self.assertEqual([], channel.closed)

    def test_session_errors_close_with_their_codes(self) -> None:
        self.assertEqual(4004, self.open(session_id="t")[1].closed[0][0])
        self.assertEqual(4003, self.open(user="bob")[1].closed[0][0])
        self.assertEqual(0, self.sockets.count_sockets())

    def test_closed_socket_sends_nothing(self) -> None:
        socket, channel = self.open()
        socket.socket_closed(1006)
        before = len(channel.frames)
        self.say(socket, t="i", d="x", seq=1)
        socket.sending_resumed()
        self.assertEqual(
            (before, False, 0),
            (len(channel.frames), socket.is_writable(), self.sockets.count_sockets()),
        )

    def test_drained_socket_resumes(self) -> None:
        socket, channel = self.open()
        socket.sending_paused()
        self.mux.host["s"].emit_output(b"more")
        self.assertEqual(b"", channel.data)
        socket.sending_resumed()
        self.assertEqual(b"more", channel.data)
