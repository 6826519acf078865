"""Answers that come late, to somebody whose right to them has ended meanwhile."""

from __future__ import annotations

import json
import re
from typing import Any

from twisted.internet.defer import Deferred

from tests.security.harness import parse_http_answer
from tests.security.lost_right_harness import (
    ENDS,
    MARK,
    LateCase,
    of_brief_token,
    of_token,
)
from tests.security.matrix_rows import JOB
from tests.unit.http.gate_harness import basic_headers
from tests.unit.http.site_driver import MemoryTransport, SiteConnection, request_head
from tests.unit.http.websockets.ws_frames import TEXT, UPGRADE, masked_frame, read_frames
from tservice.agents.activity.input_gate import AgentGate
from tservice.core.kernel.errors import make_failure_error
from tservice.hosts.host_keys import HostKey
from tservice.hosts.service import HostService
from tservice.http.operations import AccessRule, Operation, OperationCall, ResponseStyle
from tservice.http.transfer.large_responses import MAX_PREPARING
from tservice.sessions.record.model import Session

DAY = 24 * 3600
OWN_END = {
    "POST /api/logout",
    "POST /api/auth/revoke",
    "PUT /api/me/password",
    "POST /api/auth/password",
    "PATCH /api/admin/users/{name}",
    "DELETE /api/admin/users/{name}",
    "POST /api/admin/users/{name}/reset-password",
    "POST /api/admin/users/{name}/logout",
}
"""What may end its own caller's right, so that its answer cannot be judged again."""


class WaitTests(LateCase):
    """Long polls, parked by an admin."""

    def test_each_lost_right_ends_the_wait_immediately(self) -> None:
        for end in ENDS:
            self.newcomer()
            with self.subTest(end=f"{end.shown.__name__} {end.title}"):
                waiting = self.watch(end.shown(self))
                end.work(self)
                self.world.clock.advance(0)
                found = parse_http_answer(waiting.value(), "GET")
                self.assertIn(found.status, (401, 403, 404), waiting.value())
                self.assertNotIn("set-cookie", found.headers)
                self.assertNotIn(self.print_mark(), waiting.value())

    def test_kept_right_keeps_the_wait(self) -> None:
        """A user is granted more, by which the cookies end, but not the tokens."""
        token = self.world.token("ann", "waits")
        waiting = self.watch(token)
        self.world.good("root", "PATCH", "/api/admin/users/ann", {"role": "admin"})
        self.assertEqual(b"", waiting.value())
        self.assertIn(self.print_mark(), waiting.value())

    def test_wait_for_a_session_that_ends_is_still_answered(self) -> None:
        waiting = self.watch(self.cookie("ann"))
        self.world.good("ann", "DELETE", f"/api/sessions/{self.world.session}")
        self.world.clock.advance(1)
        self.assertEqual(200, parse_http_answer(waiting.value(), "GET").status, waiting.value())

    def test_fleet_waits_and_inputs_end_with_the_right(self) -> None:
        session = self.world.session
        fleet = f"/api/waits?sessions={session}&until=exit"
        typed = b'{"input": "ls\\r", "wait": "exit"}'
        parked = [
            self.park("GET", fleet, self.cookie("max")),
            self.park("GET", f"/api/sessions/{session}/wait?until=exit", self.cookie("max")),
        ]
        typing = SiteConnection(self.world.site, MemoryTransport("10.1.1.1"))
        self.addCleanup(typing.lose)
        named = {**of_token(self), "Content-Type": "application/json"}
        named["Content-Length"] = str(len(typed))
        typing.send(request_head("POST", f"/api/sessions/{session}/input", named) + typed)
        self.world.clock.advance(1)
        self.assertEqual(b"", typing.value())
        self.patch_max(role="user")
        found = [parse_http_answer(each.value(), "GET").status for each in (*parked, typing)]
        self.assertEqual([401, 401, 404], found)
        metrics = self.ask("GET", "/metrics", headers=self.cookie()).body
        self.assertIn("parked_waits 0", metrics)

    def test_lost_right_counts_as_no_failed_login(self) -> None:
        """However many waits end with it, the address is not locked out."""
        waiting = [self.watch(of_token(self)) for _ in range(12)]
        self.delete_tokens()
        self.assertEqual({401}, {parse_http_answer(one.value(), "GET").status for one in waiting})
        wrong = self.ask(
            "GET", "/api/me", headers=basic_headers(self.name, "x"), address="10.1.1.1"
        )
        self.assertEqual(401, wrong.status)


class SlowAnswerTests(LateCase):
    """Every other operation, made slow."""

    def slow(
        self, operation: Operation, *, large: bool = False
    ) -> tuple[SiteConnection, Deferred[object]]:
        """A call of C{operation} by the admin, which is answered with what this is fired with.

        @param large: whether its answers take turns.
        """
        late: Deferred[object] = Deferred()

        async def handler(call: OperationCall) -> object:
            return await late

        for name, value in (("handler", handler), ("body", None), ("query", None)):
            object.__setattr__(operation, name, value)
        object.__setattr__(operation, "allowed", None)
        object.__setattr__(operation, "large", lambda query: large)
        path = re.sub(r"\{\w+\}", self.world.session, operation.path)
        return self.park(operation.method, path, self.cookie("max")), late

    def test_late_answer_is_authorized_again(self) -> None:
        """Of everything but what may itself end the right of whoever asks for it."""
        closed = (AccessRule.PUBLIC, AccessRule.CAPABILITY)
        streams = (ResponseStyle.STREAM, ResponseStyle.WEBSOCKET)
        parked: list[tuple[str, SiteConnection, Deferred[object]]] = []
        for operation in self.world.operations:
            if operation.access in closed or operation.style in streams:
                continue
            parked.append((f"{operation.method} {operation.path}", *self.slow(operation)))
        accounts = self.world.accounts
        assert accounts is not None
        accounts.end_account_access(self.name)
        answered = set()
        for name, connection, late in parked:
            if not late.called:
                late.callback({"told": MARK})
            found = parse_http_answer(connection.value(), name.partition(" ")[0])
            if MARK in found.body:
                answered.add(name)
                continue
            self.assertEqual(401, found.status, name)
            self.assertNotIn("set-cookie", found.headers, name)
        self.assertEqual(OWN_END, answered)

    def test_answer_waiting_for_its_turn_is_authorized_again(self) -> None:
        path = f"/api/sessions/{self.world.session}/search"
        operation = self.world.site.kernel.table.find_operation("GET", path)
        assert operation is not None
        first, late = self.slow(operation, large=True)
        parked = [
            first,
            *(self.park("GET", path, self.cookie("max")) for _ in range(MAX_PREPARING)),
        ]
        self.patch_max(enabled=False)
        late.callback({"told": MARK})
        for _ in parked:
            self.world.clock.advance(0)
        found = [parse_http_answer(each.value(), "GET") for each in parked]
        self.assertEqual([401] * len(parked), [each.status for each in found])
        self.assertNotIn(MARK, "".join(each.body for each in found))

    def test_late_refusal_is_authorized_again(self) -> None:
        operation = self.world.site.kernel.table.find_operation("GET", "/api/doctor")
        assert operation is not None
        connection, late = self.slow(operation)
        self.patch_max(enabled=False)
        late.errback(make_failure_error(MARK))
        self.assertTrue(connection.value().startswith(b"HTTP/1.1 401 "), connection.value())


class LateEffectTests(LateCase):
    """What waits for a hash, and is done by somebody who may not any more."""

    def setUp(self) -> None:
        super().setUp()
        assert self.world.accounts is not None
        self.hasher: Any = self.world.accounts._deps.hasher
        self.hashes: list[Deferred[None]] = []

    def hold(self) -> None:
        """Hashes take as long as this test wants."""
        real = self.hasher.hash_password

        async def held(place: str, password: str) -> str:
            waiting: Deferred[None] = Deferred()
            self.hashes.append(waiting)
            await waiting
            done: str = await real(place, password)
            return done

        self.patch(self.hasher, "hash_password", held)

    def finish(self) -> None:
        for waiting in self.hashes:
            waiting.callback(None)

    def test_admin_demoted_during_the_request_changes_no_account(self) -> None:
        self.hold()
        users = "/api/admin/users"
        body = b'{"username": "mallory", "role": "admin", "password": "long enough"}'
        word = b'{"password": "long enough"}'
        parked = [
            self.park("POST", users, self.cookie("max"), body),
            self.park("PATCH", f"{users}/root", self.cookie("max"), word),
            self.park("POST", f"{users}/root/reset-password", self.cookie("max")),
        ]
        self.patch_max(role="user")
        before = self.world.snapshot()
        self.finish()
        for connection in parked:
            self.assertTrue(connection.value().startswith(b"HTTP/1.1 401 "), connection.value())
        self.assertEqual(before, self.world.snapshot())

    def test_thief_cannot_overtake_a_password_reset(self) -> None:
        self.world.cookies["thief"] = self.world.sign_in("ann")
        self.hold()
        body = b'{"currentPassword": "correct horse", "newPassword": "of the thief"}'
        taking = self.park("PUT", "/api/me/password", self.cookie("thief"), body)
        self.world.good("root", "POST", "/api/admin/users/ann/logout")
        self.finish()
        self.assertTrue(taking.value().startswith(b"HTTP/1.1 401 "), taking.value())
        body_of_thief = {"username": "ann", "password": "of the thief"}
        self.assertEqual(401, self.ask("POST", "/api/login", body_of_thief).status)


class SlowPromptTests(LateCase):
    """Prompts that wait until their agent, or their shell, can take them."""

    def setUp(self) -> None:
        super().setUp()
        self.ready: list[Deferred[None]] = []

        async def slow(gate: AgentGate, session: Session) -> None:
            self.ready.append(Deferred())
            await self.ready[-1]

        self.patch(AgentGate, "wait_until_ready", slow)

    def test_each_lost_right_leaves_waiting_prompts_untyped(self) -> None:
        path = f"/api/sessions/{self.world.session}/input"
        pane = self.world.host[self.world.session]
        for end in ENDS:
            if end.shown is of_brief_token:
                continue
            self.newcomer()
            with self.subTest(end=f"{end.shown.__name__} {end.title}"):
                held = self.park("POST", path, end.shown(self), b'{"input": "id > pwned\\r"}')
                end.work(self)
                self.ready.pop().callback(None)
                self.world.clock.advance(1)
                self.assertIn(parse_http_answer(held.value(), "POST").status, (401, 403, 404))
                self.assertEqual(([], b""), (pane.pastes, bytes(pane.typed)))

    def test_prompt_of_a_job_is_not_typed_after_a_lost_right(self) -> None:
        job = {**JOB, "workingDir": str(self.world.cases(self.name)), "enabled": False}
        made = self.world.good("max", "POST", "/api/cron/jobs", job)["job"]
        run = self.world.good("max", "POST", f"/api/cron/jobs/{made['id']}/run")["run"]
        pane = self.world.host[run["sessionId"]]
        self.patch_max(enabled=False)
        for _ in range(3):
            self.world.clock.advance(1)
            for each in self.ready:
                each.callback(None)
            self.ready.clear()
        self.assertEqual(([], b""), (pane.pastes, bytes(pane.typed)))
        (run,) = self.world.good("root", "GET", f"/api/cron/jobs/{made['id']}/runs")
        self.assertEqual("failed", run["status"])
        self.assertIn("gone or disabled", run["errorMessage"])


class SlowKeyTests(LateCase):
    def test_host_key_is_not_trusted_after_a_lost_right(self) -> None:
        """A host has twelve seconds to show its key."""
        wanted = {"label": "far", "host": "far.example", "username": "me"}
        host = self.world.good("root", "POST", "/api/remote-hosts", wanted)["host"]["id"]
        shown, late = HostKey("ssh-ed25519", "AAAA"), Deferred[None]()

        async def knock(hosts: HostService, known: object) -> HostKey:
            await late
            return shown

        self.patch(HostService, "_fetch_key", knock)
        body = json.dumps({"fingerprint": shown.fingerprint}).encode()
        path = f"/api/remote-hosts/{host}/trust"
        asking = self.park("POST", path, self.cookie("max"), body)
        self.patch_max(role="user")
        late.callback(None)
        self.assertIn(parse_http_answer(asking.value(), "POST").status, (401, 403))
        self.assertFalse((self.world.folder / "known_hosts").exists())


class StreamWithoutRightTests(LateCase):
    """What is open ends in the moment in which the right to it does, by time too."""

    def stream(self, headers: dict[str, str]) -> SiteConnection:
        connection = SiteConnection(self.world.site, MemoryTransport("10.1.1.1"))
        self.addCleanup(connection.lose)
        connection.send(request_head("GET", "/api/events", headers))
        self.assertIn(b"event: init", connection.value())
        return connection

    def test_each_lost_right_ends_the_stream_immediately(self) -> None:
        for end in ENDS:
            self.newcomer()
            with self.subTest(end=f"{end.shown.__name__} {end.title}"):
                stream = self.stream(end.shown(self))
                end.work(self)
                self.world.clock.advance(0)
                self.assertTrue(stream.value().endswith(b"0\r\n\r\n"), stream.value()[-80:])

    def test_stream_ends_exactly_when_its_cookie_expires(self) -> None:
        stream = self.stream(self.cookie("max"))
        self.world.clock.advance(DAY - 1)
        self.assertFalse(stream.value().endswith(b"0\r\n\r\n"))
        self.world.clock.advance(1)
        self.assertTrue(stream.value().endswith(b"0\r\n\r\n"))


class TerminalWithoutRightTests(LateCase):
    """Terminals over WebSocket."""

    def terminal(self, headers: dict[str, str]) -> SiteConnection:
        connection = SiteConnection(self.world.site, MemoryTransport("10.1.1.1"))
        self.addCleanup(connection.lose)
        path = f"/ws/sessions/{self.world.session}/terminal"
        connection.send(request_head("GET", path, {**UPGRADE, **headers}))
        self.assertTrue(connection.value().startswith(b"HTTP/1.1 101 "), connection.value())
        return connection

    def test_each_lost_right_closes_the_terminal_immediately(self) -> None:
        for end in ENDS:
            if end.shown is of_brief_token:
                continue  # in five minutes of silence a terminal goes anyway
            self.newcomer()
            with self.subTest(end=f"{end.shown.__name__} {end.title}"):
                terminal = self.terminal(end.shown(self))
                end.work(self)
                _, _, sent = terminal.value().partition(b"\r\n\r\n")
                self.assertEqual([4003], [f.code for f in read_frames(sent) if f.first == 0x88])
                pane = self.world.host[self.world.session]
                before = bytes(pane.typed)
                terminal.send(masked_frame(TEXT, b'{"t":"i","d":"id > pwned"}'))
                self.assertNotIn(self.print_mark(), terminal.value())
                self.assertEqual(before, bytes(pane.typed))
                terminal.lose()
