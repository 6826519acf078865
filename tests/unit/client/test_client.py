"""Tests for the Python client: what it asks of its wire, and how often."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tservice.client import api, blocking
from tservice.client.errors import ApiError, Unusable
from tservice.client.link.address import ServiceAddress
from tservice.client.link.caller import ResponseLost, check_complete
from tservice.client.link.stream import (
    Event,
    OutputReceived,
    ProcessEnded,
    RedrawReceived,
    TerminalConnection,
)
from tservice.client.retrying import PAUSES
from tservice.client.session import CLEAR, OutputPosition, Session
from tservice.client.synchronous import run_synchronously

RECORD: Any = {"id": "abcd", "name": "one"}
OTHER: Any = {**RECORD, "id": "ef"}


class FakeSocket:
    """One that has nothing to send."""

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass


class FakeStream(TerminalConnection):
    """A stream that receives what it is given: events, or faults."""

    def __init__(self, script: list[Event | Exception]) -> None:
        super().__init__(ServiceAddress("h", 1), "abcd")
        self.script, self.connected = script, 0

    def connect(self, patience: float = 0) -> None:
        self.connected += 1
        self.socket = FakeSocket()  # type: ignore[assignment]

    def receive_events(self) -> Any:
        entry = self.script.pop(0)
        if isinstance(entry, Exception):
            raise entry
        yield entry


class FakeClientWire:
    """Answers in turn what it is told to; a callable is asked."""

    def __init__(self) -> None:
        self.answers: list[Any] = []
        self.asked: list[tuple[str, str, Any, dict[str, Any], int]] = []
        self.slept: list[float] = []
        self.fake_stream = FakeStream([])

    async def send_request(
        self,
        method: str,
        path: str,
        body: object = None,
        query: Mapping[str, object] | None = None,
        wait_ms: int = 0,
    ) -> Any:
        given = {name: value for name, value in (query or {}).items() if value is not None}
        copied = json.loads(json.dumps(body))
        self.asked.append((method, path, copied, given, wait_ms))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def open_stream(
        self, session_id: str, epoch: str | None, offset: int | None
    ) -> TerminalConnection:
        self.asked.append(("STREAM", session_id, epoch, {}, offset or 0))
        return self.fake_stream

    async def connect_stream(self, stream: TerminalConnection) -> None:
        stream.connect()

    async def wait_ready(self, stream: TerminalConnection) -> None:
        pass


def waited(signal: str | None = None, **more: Any) -> dict[str, Any]:
    state = {"signal": signal, "ended": False, "timedOut": signal is None}
    return {"wait": state, "delivered": True, "duplicate": False, **more}


class ClientCase(SynchronousTestCase):
    def setUp(self) -> None:
        self.wire = FakeClientWire()
        self.client = api.Client(self.wire)
        self.session = Session(self.client, RECORD)

    def now(self, work: Coroutine[Any, Any, Any], *answers: Any) -> Any:
        self.wire.answers = list(answers)
        return run_synchronously(work)

    def fails(self, kind: type[Exception], work: Coroutine[Any, Any, Any], *answers: Any) -> Any:
        return self.assertRaises(kind, self.now, work, *answers)


class SendTests(ClientCase):
    def marks(self) -> list[tuple[str, int]]:
        return [(body["clientId"], body["seq"]) for _, _, body, _, _ in self.wire.asked]

    def test_inputs_have_consecutive_numbers_of_one_client(self) -> None:
        for _ in range(3):
            self.now(self.session.send("x"), {"delivered": True})
        self.assertEqual([1, 2, 3], [seq for _, seq in self.marks()])
        self.assertEqual(1, len({client for client, _ in self.marks()}))

    def test_lost_answer_is_requested_again_with_the_same_number(self) -> None:
        found = self.now(
            self.session.send("x"),
            ResponseLost("cut"),
            ApiError(502, None, "Bad Gateway"),
            {"delivered": False, "duplicate": True},
        )
        self.assertTrue(found.again)
        self.assertEqual(3, len(self.marks()))
        self.assertEqual(1, len(set(self.marks())))
        self.assertEqual(list(PAUSES[:2]), self.wire.slept)

    def test_send_gives_up_after_the_last_try(self) -> None:
        tries = len(PAUSES) + 1
        self.fails(
            ResponseLost, self.session.send("x"), *[ResponseLost("cut") for _ in range(tries)]
        )
        self.assertEqual(tries, len(self.wire.asked))
        # The number stays used: it may have been typed.
        self.now(self.session.send("y"), {"delivered": True})
        self.assertEqual(2, self.marks()[-1][1])

    def test_refusal_is_not_retried(self) -> None:
        refusal = ApiError(502, "OPERATION_FAILED", "no")
        self.assertIs(refusal, self.fails(ApiError, self.session.send("x"), refusal))
        self.assertEqual([], self.wire.slept)

    def test_overlapping_sends_use_two_clients(self) -> None:
        """The service drops a number that comes after a higher one of its client."""

        async def overlap() -> None:
            inner = self.session.send("inner")
            original = self.wire.send_request

            async def call(*given: Any, **named: Any) -> Any:
                self.wire.send_request = original  # type: ignore[method-assign]
                await inner
                return await original(*given, **named)

            self.wire.send_request = call  # type: ignore[method-assign]
            await self.session.send("outer")
            await self.session.send("after")

        self.now(overlap(), *[{"delivered": True}] * 3)
        inner, outer, after = self.marks()
        self.assertNotEqual(inner[0], outer[0])
        self.assertEqual((1, 1, 2), (inner[1], outer[1], after[1]))

    def test_send_waits_for_signals(self) -> None:
        work = self.session.send("x", wait=["stop", "blocked"], timeout=5)
        self.assertEqual("stop", self.now(work, waited("stop")).signal)
        [(_, path, body, _, wait_ms)] = self.wire.asked
        self.assertEqual("/sessions/abcd/input", path)
        self.assertEqual((["stop", "blocked"], 5000), (body["wait"], body["waitTimeout"]))
        self.assertEqual((5000, True), (wait_ms, body["useMux"]))

    def test_lost_send_that_was_typed_is_waited_for(self) -> None:
        work = self.session.send("x", wait="stop", timeout=9)
        found = self.now(work, ResponseLost("cut"), waited(None, duplicate=True), waited("stop"))
        self.assertEqual((True, "stop"), (found.again, found.signal))
        self.assertEqual("/sessions/abcd/wait", self.wire.asked[-1][1])

    def test_wait_longer_than_the_limit_is_repeated(self) -> None:
        work = self.session.send("x", wait=True, timeout=700)
        self.assertIsNone(self.now(work, waited(), waited()).signal)
        self.assertEqual([600_000, 100_000], [wait for *_, wait in self.wire.asked])


class ClientSessionTests(ClientCase):
    def test_session_wait_returns_the_signal(self) -> None:
        found = self.now(self.session.wait("exit", timeout=1200, fresh=True), waited(), waited())
        self.assertIsNone(found)
        self.assertEqual({"until": "exit", "timeout": 600_000, "fresh": 1}, self.wire.asked[0][3])
        ended = {"wait": {"signal": None, "ended": True}}
        self.assertEqual("exit", self.now(self.session.wait(), ended))

    def test_session_waits_for_output(self) -> None:
        state = {"matched": True, "snippet": "a mark", "ended": False}
        found = self.now(self.session.wait_output("mark", timeout=0.1), {"wait": state})
        self.assertEqual("a mark", found)
        self.assertEqual("buffer", self.wire.asked[0][3]["from"])
        self.assertEqual(1000, self.wire.asked[0][3]["timeout"])
        gone = {"wait": {"matched": False, "ended": True}}
        self.assertIsNone(self.now(self.session.wait_output("mark", earlier=False), gone))

    def test_screen_is_returned_as_text(self) -> None:
        answer = {"terminalBuffer": "a \r\n\x1b[31mb\x1b[0m\r\n\r\n"}
        self.assertEqual("a\nb", self.now(self.session.screen(), answer))
        self.assertEqual("b", self.now(self.session.screen(lines=1), answer))
        self.assertEqual({"full": 1, "lines": "1"}, self.wire.asked[1][3])

    def test_approvals_are_of_this_session_and_answered_with_their_frame(self) -> None:
        mine = {"id": "i/1", "sessionId": "abcd", "frame": "f"}
        items = {"approvals": [{**mine, "sessionId": "other"}, mine]}
        self.assertEqual([mine], self.now(self.session.approvals(), items))
        self.now(self.session.answer(mine, "deny"), {})  # type: ignore[arg-type]
        _, path, body, _, _ = self.wire.asked[-1]
        self.assertEqual("/approvals/i%2F1/answer", path)
        self.assertEqual({"action": "deny", "expectFrame": "f"}, body)

    def test_session_started_by_the_client_is_ended(self) -> None:
        async def use(session: Session) -> None:
            async with session:
                pass

        self.now(use(self.session))
        self.assertEqual([], self.wire.asked)
        gone = ApiError(404, "NOT_FOUND", "gone")
        self.now(use(Session(self.client, RECORD, ours=True)), gone)
        self.assertEqual("DELETE", self.wire.asked[0][0])
        self.fails(
            ApiError,
            use(Session(self.client, RECORD, ours=True)),
            ApiError(403, "FORBIDDEN", "no"),
        )


class ClientStreamTests(ClientCase):
    def streamed(
        self, *script: Event | Exception, since: OutputPosition | None = None
    ) -> list[bytes]:
        self.wire.fake_stream = FakeStream(list(script))
        return list(blocking.Session(self.session).stream(since))

    def test_stream_continues_over_cuts(self) -> None:
        found = self.streamed(
            OutputReceived(b"a"),
            ResponseLost("cut"),
            OutputReceived(b"b"),
            RedrawReceived(b"c"),
            ProcessEnded(0),
            since=OutputPosition("e", 7),
        )
        self.assertEqual([b"a", b"b", CLEAR + b"c"], found)
        self.assertEqual(2, self.wire.fake_stream.connected)
        self.assertEqual(("STREAM", "abcd", "e", {}, 7), self.wire.asked[0])
        self.assertIsNone(self.wire.fake_stream.socket)

    def test_final_end_of_the_stream_is_raised(self) -> None:
        self.assertRaises(Unusable, self.streamed, Unusable("not yours"))
        self.assertIsNone(self.wire.fake_stream.socket)

    def test_closing_the_stream_disconnects(self) -> None:
        self.wire.fake_stream = FakeStream([OutputReceived(b"a"), OutputReceived(b"b")])
        stream = blocking.Session(self.session).stream()
        self.assertEqual(b"a", next(stream))
        stream.close()  # type: ignore[attr-defined]
        self.assertIsNone(self.wire.fake_stream.socket)


class PythonClientTests(ClientCase):
    def test_sessions_are_found_by_name(self) -> None:
        self.assertEqual("abcd", self.now(self.client.session("one"), [RECORD]).id)
        self.fails(Unusable, self.client.session("two"), [RECORD])

    def test_new_session_is_started_and_created_once(self) -> None:
        made = self.now(self.client.new(mode="shell"), {"session": RECORD})
        self.assertEqual("abcd", made.id)
        self.assertEqual({"start": True, "mode": "shell"}, self.wire.asked[0][2])
        self.fails(ResponseLost, self.client.new(), ResponseLost("cut"))
        self.assertEqual(2, len(self.wire.asked))

    def test_client_waits_for_several_sessions(self) -> None:
        answer = {"signals": {"abcd": "stop", "ef": None}}
        other = Session(self.client, OTHER)
        work = self.client.wait_all([self.session, other], "stop", timeout=2)
        self.assertEqual({"abcd": "stop"}, self.now(work, answer))
        _, _, _, query, wait_ms = self.wire.asked[0]
        self.assertEqual(("abcd,ef", "all", 2000), (query["sessions"], query["mode"], wait_ms))


class FacadeTests(SynchronousTestCase):
    def test_blocking_facade_has_every_method(self) -> None:
        for facade, whole in ((blocking.Session, Session), (blocking.Client, api.Client)):
            own = {name for name in vars(whole) if not name.startswith("_")}
            self.assertEqual(set(), own - set(dir(facade)))
            for name in own:
                one, two = getattr(facade, name), getattr(whole, name)
                if callable(two) and name not in ("wait_any", "wait_all", "new"):
                    self.assertEqual(names(one), names(two), name)

    def test_method_that_would_wait_is_an_error(self) -> None:
        class Never:
            def __await__(self) -> Any:
                yield

        async def waits() -> None:
            await Never()

        self.assertRaises(RuntimeError, run_synchronously, waits())


class WhereTests(SynchronousTestCase):
    def test_service_address_may_be_given(self) -> None:
        found = api.find_service_address("http://h:1/base", token="tsk_a")
        self.assertEqual(("h", 1, "Bearer tsk_a"), (found.host, found.port, found.authorization))
        self.assertIn(
            "tokn", str(self.assertRaises(Unusable, api.find_service_address, "http://h", tokn="a"))
        )

    def test_environment_and_names_are_those_of_tsctl(self) -> None:
        home = Path(self.mktemp())
        (home / ".config/tservice").mkdir(parents=True)
        config = home / ".config/tservice/tsctl.yaml"
        config.touch(mode=0o600)
        config.write_text("box: {url: 'https://box', token: tsk_b}")
        self.patch(os, "environ", {"TSCTL_URL": "http://e:2", "TSCTL_TOKEN": "tsk_e"})
        self.patch(Path, "home", lambda: home)
        self.assertEqual(
            ("e", "Bearer tsk_e"),
            (api.find_service_address().host, api.find_service_address().authorization),
        )
        self.assertEqual("box", api.find_service_address(at="box").host)


class WholeTests(SynchronousTestCase):
    def test_truncated_answer_is_a_lost_connection(self) -> None:
        check_complete(200, b'{"a": 1}', marked=False)
        check_complete(200, b"", marked=True)
        check_complete(401, b"", marked=False)
        for cut in (b"", b'{"a"', b"\xff"):
            self.assertRaises(ResponseLost, check_complete, 200, cut, marked=False)


def names(function: Callable[..., Any]) -> list[str]:
    return list(inspect.signature(function).parameters)
