"""A disk that takes nothing: keys go on, all else is refused, and nothing that was told is lost."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from attrs import evolve
from twisted.internet.defer import Deferred

from tests.callers import GRANTED
from tests.unit.sessions.harness import ADMIN, SessionCase, start_coroutine
from tests.unit.store.failing_disk import FailingConnection
from tservice.core.disk.disk_errors import FULL, DiskFull
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.mux.interface import InputMark, MuxTimeout
from tservice.mux.tmux.commands import set_mark
from tservice.mux.typed_input import PIECE
from tservice.sessions.input.recover.unpersisted_sequence import (
    UnpersistedSequence,
    digest_client_id,
    format_mark_id,
)
from tservice.sessions.interfaces import InputDelivery
from tservice.sessions.record.model import NameSource, ProcessPhase, ProcessPriority, Session
from tservice.sessions.record.requests import CreateRequest, InputRequest
from tservice.store.database import Database
from tservice.store.deferred_writes import AGAIN_SECONDS

DONE = InputDelivery(delivered=True)
AGAIN = InputDelivery(delivered=False, duplicate=True)


class FullDiskCase(SessionCase):
    def setUp(self) -> None:
        super().setUp()
        self.path = Path(self.mktemp())
        Database.open_file(self.path, clock=self.clock).close()
        self.begin_anew()

    def begin_anew(self, *, full: bool = False) -> None:
        """A service on the same disk and panes; the one before is killed."""
        self.machine.crash()
        self.connection = FailingConnection(self.path)
        self.connection.fault = sqlite3.SQLITE_FULL if full else None
        self.machine.database = Database(self.connection)
        self.machine.database.deferred_writes.use_clock(self.clock)
        self.addCleanup(self.connection.close)
        self.machine.boot()
        self.run_now(self.sessions.load_and_adopt_sessions())
        self.spend(1)

    def fill(self) -> None:
        self.connection.fault = sqlite3.SQLITE_FULL

    def make_room(self) -> None:
        self.connection.fault = None
        self.spend(AGAIN_SECONDS)

    def key(self, session: Session, text: str, seq: int, client: str = "me") -> InputDelivery:
        return self.successResultOf(self.typed(session, text, seq, client))

    def typed(
        self, session: Session, text: str, seq: int, client: str = "me"
    ) -> Deferred[InputDelivery]:
        return self.type(session, text, client_id=client, seq=seq)

    def full(self, work: Awaitable[Any]) -> ServiceError:
        done = work if isinstance(work, Deferred) else start_coroutine(work)
        error: ServiceError = self.failureResultOf(done, ServiceError).value
        self.assertEqual(ErrorCode.OPERATION_FAILED, error.code)
        self.assertIn(FULL, error.message)
        return error


class FullDiskKeptInputTests(FullDiskCase):
    """What was kept for a host that was away, and is back at a full disk (protocol-wake)."""

    def test_keys_pass_offline_input_until_the_disk_has_room(self) -> None:
        session = self.shell()
        inputs = self.sessions.get_live_session(session.id).inputs
        kept = InputRequest(text="kept", client_id="far", seq=1, use_mux=False)
        self.assertTrue(inputs.buffer_input(kept).buffered)
        self.fill()
        self.full(self.refused(session, kept))
        inputs.type_buffered()
        self.assertEqual(DONE, self.key(session, "a", 1))
        self.spend(3)
        self.assertEqual(DONE, self.key(session, "b", 2))
        self.make_room()
        self.spend(3)
        self.assertEqual(DONE, self.key(session, "c", 3))
        self.assertEqual(b"abkeptc", bytes(self.pane(session).typed))

    async def refused(self, session: Session, kept: InputRequest) -> None:
        self.sessions.get_live_session(session.id).inputs.buffer_input(evolve(kept, seq=2))


class FullDiskTypingTests(FullDiskCase):
    def test_keys_are_accepted_and_prompts_refused(self) -> None:
        session = self.shell()
        self.fill()
        self.assertEqual(DONE, self.key(session, "a", 1))
        self.assertEqual(DONE, self.key(session, "b", 2))
        self.assertEqual(AGAIN, self.key(session, "b", 2))
        self.full(self.typed(session, "echo hi\r", 3))
        self.assertEqual(b"ab", bytes(self.pane(session).typed))
        self.make_room()
        self.assertEqual(AGAIN, self.key(session, "b", 2))
        self.begin_anew()
        self.assertEqual(AGAIN, self.key(session, "b", 2))
        self.assertEqual(DONE, self.key(session, "c", 3))

    def test_crash_finds_the_sequence_number_on_the_pane(self) -> None:
        session = self.shell()
        self.fill()
        self.key(session, "a", 7)
        self.begin_anew()
        self.assertEqual(AGAIN, self.key(session, "a", 7))
        self.assertEqual(DONE, self.key(session, "b", 8))
        self.assertEqual(DONE, self.key(session, "b", 7, "another"))

    def test_input_whose_row_could_not_be_deleted_is_not_typed_again(self) -> None:
        """Its input was done with when the disk got full, and another took its mark's place."""
        session = self.shell()
        self.connection.only = "DELETE FROM input_journal"
        self.fill()
        self.key(session, "a", 1)
        self.connection.only = ""
        self.key(session, "b", 2)
        self.begin_anew()
        self.assertEqual(b"ab", bytes(self.pane(session).typed))
        self.assertEqual(AGAIN, self.key(session, "b", 2))
        self.assertEqual(DONE, self.key(session, "c", 3))
        self.assertEqual(b"abc", bytes(self.pane(session).typed))

    def test_input_begun_after_there_was_room_is_finished(self) -> None:
        session = self.shell()
        self.fill()
        self.key(session, "a", 1)
        self.make_room()
        self.pane(session).inject_fault("write", MuxTimeout("x"))
        self.pane(session).inject_fault("last_mark", MuxTimeout("x"))
        more = "b" * (PIECE + 1)
        self.typed(session, more, 2)
        self.begin_anew()
        self.assertEqual(f"a{more}".encode(), bytes(self.pane(session).typed))

    def test_all_unpersisted_sequence_numbers_are_stored_with_the_pane(self) -> None:
        session = self.shell()
        for client in "km":
            self.key(session, client, 1, client)
        self.fill()
        for client in "kmxy":
            self.assertEqual(DONE, self.key(session, client, 2, client))
        for seq in (3, 4):
            self.begin_anew(full=True)
            again = [self.key(session, client, 2, client) for client in "kmxy"]
            self.assertEqual([AGAIN] * 4, again)
            self.assertEqual(DONE, self.key(session, "k", seq, "k"))
        self.assertEqual(b"kmkmxykk", bytes(self.pane(session).typed))

    def test_input_without_a_number_drops_no_number(self) -> None:
        session = self.shell()
        self.key(session, "a", 1)
        self.fill()
        self.key(session, "b", 2)
        self.spend(2)
        self.make_room()
        self.successResultOf(self.type(session, "echo"))
        self.assertEqual(AGAIN, self.key(session, "b", 2))

    def test_remembered_input_clients_are_bounded_on_a_full_disk(self) -> None:
        """One that the disk knows is refused like one that it does not; the others go on."""
        session = self.shell()
        self.key(session, "x", 1, "known")
        self.fill()
        for number in range(256):
            self.key(session, "x", 1, f"c{number}")
        self.full(self.typed(session, "x", 1, "one more"))
        self.full(self.typed(session, "x", 2, "known"))
        self.assertEqual(DONE, self.key(session, "x", 2, "c0"))
        self.begin_anew(full=True)
        again = [self.key(session, "x", 1, f"c{number}") for number in range(256)]
        self.assertEqual([AGAIN] * 256, again)
        self.full(self.typed(session, "x", 2, "known"))
        self.assertEqual(b"x" * 258, bytes(self.pane(session).typed))
        self.make_room()
        self.assertEqual(DONE, self.key(session, "x", 2, "known"))

    def test_sequence_marks_round_trip(self) -> None:
        numbers = {f"somebody {number}": 2**53 for number in range(256)}
        mark = format_mark_id("0a" * 12, numbers, "0b" * 12)
        set_mark(InputMark(id=mark))
        found = UnpersistedSequence.parse_mark(mark)
        assert found is not None
        told = {digest_client_id(client): seq for client, seq in numbers.items()}
        self.assertEqual((told, "0b" * 12), (found.numbers, found.over))
        self.assertIsNone(UnpersistedSequence.parse_mark("0a" * 12))

    def test_mark_of_one_client_is_readable(self) -> None:
        """As earlier versions left it with a pane."""
        found = UnpersistedSequence.parse_mark(f"{'0a' * 12}-7-{'0c' * 16}-0")
        assert found is not None
        self.assertEqual(({"0c" * 16: 7}, None), (found.numbers, found.over))


class FullDiskSessionTests(FullDiskCase):
    def test_request_that_cannot_be_stored_is_refused_and_changes_nothing(self) -> None:
        session = self.shell()
        self.fill()
        before = self.sessions.get(session.id)
        create = self.sessions.create(CreateRequest(mode="shell"), ADMIN)
        self.full(create)
        error = self.assertRaises(
            ServiceError, self.sessions.rename_session, session.id, "x", NameSource.MANUAL
        )
        self.assertIn(FULL, error.message)
        self.assertEqual(before, self.sessions.get(session.id))
        self.assertEqual([session.id], [one.id for one in self.sessions.list()])

    def test_ended_process_is_announced_and_stored_later(self) -> None:
        session = self.shell()
        self.fill()
        self.pane(session).exit_program(3)
        self.spend(1)
        self.assertIn("session:exit", self.names)
        self.assertEqual(ProcessPhase.EXITED, self.sessions.get(session.id).phase)
        self.make_room()
        self.begin_anew()
        self.assertEqual(3, self.sessions.get(session.id).pane_exit.status)  # type: ignore[union-attr]

    def test_deleted_session_ends_and_warns_that_it_may_reappear(self) -> None:
        """Whoever deletes may be making room."""
        session = self.shell()
        pane = self.pane(session)
        self.fill()
        error = self.full(self.sessions.delete(session.id))
        self.assertIn("ended, but a restart now would list it again", error.message)
        self.assertTrue(pane.is_gone)
        self.assertEqual(("session:deleted", []), (self.names[-1], self.sessions.list()))
        self.begin_anew(full=True)
        found = self.sessions.get(session.id)
        self.assertEqual((ProcessPhase.EXITED, None), (found.phase, found.pid))
        self.full(self.sessions.delete(session.id))
        self.make_room()
        self.begin_anew()
        self.assertEqual([], self.sessions.list())

    def test_all_deleted_sessions_end(self) -> None:
        panes = [self.pane(self.shell()) for _ in range(2)]
        self.fill()
        error = self.full(self.sessions.delete_all_own(ADMIN))
        self.assertIn("ended, but a restart now would list them again", error.message)
        self.assertTrue(all(pane.is_gone for pane in panes))
        self.assertEqual([], self.sessions.list())

    def test_priority_that_cannot_be_stored_is_not_set(self) -> None:
        session = self.shell()
        self.fill()
        nice = ProcessPriority(enabled=True, value=5)
        live = self.sessions.get_live_session(session.id)
        self.assertRaises(DiskFull, self.sessions.properties.set_priority, live, nice)
        self.assertEqual([], self.machine.renice.set)

    def test_start_that_cannot_be_stored_keeps_the_old_screen(self) -> None:
        session = self.shell()
        self.pane(session).exit_program(0)
        self.spend(1)
        self.fill()
        self.full(self.sessions.start(session.id, GRANTED))
        self.assertFalse(self.pane(session).is_gone)
        self.assertIsNotNone(self.sessions.get_pane(session.id))


class SessionEveryWriteTests(FullDiskCase):
    """The disk fails at each write in turn, once or from then on."""

    def walk(self) -> dict[str, bool]:
        """Use a session from its making to its end; what of it was told to be done."""
        done: dict[str, bool] = {}

        def attempt(name: str, act: Callable[[], Any]) -> None:
            task = start_coroutine(_called(act))
            self.spend(2)
            if isinstance(task.result, InputDelivery | Session | None):
                done[name] = True
                return
            error: ServiceError = self.failureResultOf(task, ServiceError).value
            self.assertIn(FULL, error.message)
            done[name] = False

        session = self.shell()
        self.session = session
        self.connection.tried, self.connection.failed = 0, 0
        self.connection.after = self.survives
        if self.lasting:
            self.connection.lasting = True
        sessions = self.sessions
        attempt("prompt", lambda: self.typed(session, "echo hi\r", 1))
        attempt("key", lambda: self.typed(session, "k", 2))
        attempt("name", lambda: sessions.rename_session(session.id, "new", NameSource.MANUAL))
        attempt("more", lambda: self.typed(session, "m", 3))
        return done

    def test_no_acknowledged_change_is_lost(self) -> None:
        for self.lasting in (False, True):
            self.survives, failed = 0, True
            while failed:
                self.check()
                failed = self.connection_failed
                self.survives += 1
            self.assertGreater(self.survives, 8)

    def check(self) -> None:
        done = self.walk()
        self.assertTrue(done["key"] and done["more"], "keys are never refused")
        self.connection_failed = self.connection.failed > 0
        for mended in (False, True):
            if mended:
                self.connection.fault = None
                self.connection.lasting = False
                self.connection.after = None
                self.spend(AGAIN_SECONDS)
            self.begin_anew()
            found = self.sessions.get(self.session.id)
            if done["name"]:
                self.assertEqual("new", found.name)
            self.assertEqual(AGAIN, self.key(self.session, "m", 3))
            typed = bytes(self.pane(self.session).typed)
            self.assertEqual((1, 1), (typed.count(b"k"), typed.count(b"m")), typed)
        self.assertEqual(int(done["prompt"]), len(self.pane(self.session).pastes))


async def _called(act: Callable[[], Any]) -> Any:
    result = act()
    return await result if isinstance(result, Deferred) else result
