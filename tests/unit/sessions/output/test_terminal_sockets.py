"""Sockets of a session: caps, replacement, sizes, exits, another pane, the end."""

from __future__ import annotations

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.fakes.multiplexer.multiplexer import FakeMultiplexer, FakePane
from tests.unit.sessions.output.terminal_wire import SPEC, FakeTerminalWire
from tservice.core.locations.location import LocationOutage
from tservice.sessions.output.terminal_sockets import MAX_SOCKETS, NOTHING, TerminalSockets


class FakeTerminal(FakeTerminalWire):
    """A socket with a client id that remembers how it was closed."""

    def __init__(self, cid: str) -> None:
        super().__init__()
        self.cid = cid
        self.closed: list[int] = []

    def close(self, code: int, reason: str) -> None:
        self.closed.append(code)


class SocketsTests(SynchronousTestCase):
    """L{TerminalSockets}."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.mux = FakeMultiplexer(self.clock)
        self.pane: FakePane | None = self.create()
        self.outage: LocationOutage | None = None
        self.sockets = TerminalSockets(
            self.clock, lambda session_id: self.pane, outage=lambda session_id: self.outage
        )

    def create(self) -> FakePane:
        return self.successResultOf(Deferred.fromCoroutine(self.mux.create_pane(SPEC)))

    def connect(self, cid: str = "a") -> FakeTerminal:
        terminal = FakeTerminal(cid)
        self.sockets.connect("s", terminal, None, None)
        return terminal

    def resize(self, cols: int, rows: int) -> None:
        assert self.pane is not None
        self.successResultOf(Deferred.fromCoroutine(self.pane.resize(cols, rows)))

    def test_sixth_web_socket_of_a_session_is_refused(self) -> None:
        for number in range(MAX_SOCKETS):
            self.assertEqual([], self.connect(str(number)).closed)
        self.assertEqual([4008], self.connect("one too many").closed)
        self.assertEqual(MAX_SOCKETS, self.sockets.count_sockets())

    def test_same_client_replaces_its_old_socket(self) -> None:
        old = self.connect()
        new = self.connect()
        self.assertEqual(([4010], []), (old.closed, new.closed))
        self.sockets.disconnect("s", old)
        self.assertEqual(1, self.sockets.count_sockets())
        self.mux.host["s"].emit_output(b"x")
        self.clock.advance(1)
        self.assertEqual((b"", b"x"), (old.data, new.data))

    def test_size_change_reaches_every_socket(self) -> None:
        one, two = self.connect("1"), self.connect("2")
        self.resize(50, 12)
        want = {"t": "size", "c": 50, "r": 12}
        self.assertEqual([want, want], [one.frames[-1], two.frames[-1]])

    def test_last_bytes_precede_the_exit(self) -> None:
        terminal = self.connect()
        self.clock.advance(1)
        self.mux.host["s"].emit_output(b"1")
        self.mux.host["s"].emit_output(b"2")
        self.mux.host["s"].exit_program(3)
        self.assertEqual(b"12", terminal.data)
        self.assertEqual({"t": "exit", "status": 3}, terminal.frames[-1])
        self.assertEqual([], terminal.closed)

    def test_unknown_exit_status_is_left_out(self) -> None:
        terminal = self.connect()
        self.mux.host.lose_server("s")
        self.assertEqual({"t": "exit"}, terminal.frames[-1])

    def test_hello_precedes_everything(self) -> None:
        self.mux.host["s"].exit_program(0)
        self.mux.host["s"].stop_answering()
        terminal = self.connect()
        self.assertEqual([], terminal.frames)
        self.mux.host["s"].resume_answering()
        self.assertEqual(["hello", "exit", "snapshot"], terminal.kinds())

    def test_outage_is_announced_immediately(self) -> None:
        """Nobody can capture the pane, so what was printed before has to do."""
        self.mux.host["s"].emit_output(b"before")
        self.outage = LocationOutage(title="Far", next_at=7)
        terminal = self.connect()
        self.assertEqual(["hello", "link"], terminal.kinds())
        self.assertEqual({"t": "link", "up": False, "nextAt": 7}, terminal.frames[-1])
        self.assertTrue(terminal.data.endswith(b"before"))
        assert self.pane is not None
        self.pane.log.add_gap()
        self.mux.host["s"].emit_output(b"after")
        self.clock.advance(1)
        self.assertEqual("snapshot", terminal.kinds()[-1])

    def test_outage_without_a_pane_is_announced(self) -> None:
        self.pane, self.outage = None, LocationOutage(title="Far")
        self.assertEqual(["hello", "snapshot", "link"], self.connect().kinds())

    def test_session_without_a_pane_has_an_empty_screen_until_it_starts(self) -> None:
        made, self.pane = self.pane, None
        terminal = self.connect()
        self.assertEqual(["hello", "snapshot"], terminal.kinds())
        self.assertEqual(NOTHING, terminal.frames[0]["epoch"])
        self.pane = made
        self.sockets.switch_to_current_pane("s")
        self.assertEqual(["hello", "snapshot"] * 2, terminal.kinds())
        self.assertNotEqual(NOTHING, terminal.frames[2]["epoch"])

    def test_event_switches_only_to_another_pane(self) -> None:
        terminal = self.connect()
        self.sockets.switch_pane_if_changed("s")
        self.sockets.switch_pane_if_changed("nobody watches this one")
        self.assertEqual(["hello", "snapshot"], terminal.kinds())
        self.pane = None
        self.sockets.switch_pane_if_changed("s")
        self.assertEqual(NOTHING, terminal.frames[-2]["epoch"])

    def test_deleted_session_closes_its_web_sockets(self) -> None:
        terminal = self.connect()
        self.sockets.close_sockets_of_session("s")
        self.assertEqual([4009], terminal.closed)
        self.sockets.disconnect("s", terminal)
        self.assertEqual(0, self.sockets.count_sockets())

    def test_pane_is_released_with_the_last_socket(self) -> None:
        terminal = self.connect()
        self.sockets.disconnect("s", terminal)
        assert self.pane is not None
        self.assertEqual(0, len(self.pane.log._listeners))
        self.assertIsNone(self.sockets.find_stream("s"))
        self.assertIsNone(self.sockets.find_viewer("s", terminal))

    def test_closing_closes_every_socket(self) -> None:
        terminal = self.connect()
        self.sockets.close(1001, "going away")
        self.assertEqual([1001], terminal.closed)
        self.assertEqual(0, self.sockets.count_sockets())
