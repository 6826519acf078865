"""Terminal output as events: only what is wanted, bounded, exact at its offsets."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.event_helpers import make_event, to_wire
from tests.examples import example_count
from tests.fakes.multiplexer.multiplexer import FakeMultiplexer
from tests.unit.sessions.output.terminal_wire import PROMPT, SPEC
from tservice.core.kernel.errors import make_not_found_error
from tservice.core.kernel.events import Event, EventHub
from tservice.mux.interface import IPane
from tservice.sessions.output.terminal_feed import (
    LARGEST,
    PER_SECOND,
    TerminalFeed,
    whole_character_length,
)

TICK = 1 / PER_SECOND


class FeedTests(SynchronousTestCase):
    """L{TerminalFeed}."""

    def setUp(self) -> None:
        self.clock, self.hub = Clock(), EventHub()
        self.mux = FakeMultiplexer(self.clock)
        self.pane = self.successResultOf(Deferred.fromCoroutine(self.mux.create_pane(SPEC)))
        self.wanted, self.events = True, list[Event]()
        self.gone = False
        self.feed = TerminalFeed(
            self.clock, self.hub, self.pane_of, lambda _: "ann", lambda _: self.wanted
        )
        self.hub.subscribe(self.events.append)
        self.hub.publish(make_event("session:updated", session_id="s"))
        self.events.clear()
        self.addCleanup(self.check_closed)

    def pane_of(self, session_id: str) -> IPane:
        if self.gone:
            raise make_not_found_error(f"Session {session_id}")
        return self.pane

    def check_closed(self) -> None:
        self.feed.close()
        self.assertEqual([], self.clock.getDelayedCalls())
        self.assertEqual(0, len(self.pane.log._listeners))

    def emit(self, data: bytes) -> None:
        self.pane.log.append(data)

    def test_output_is_published_once_a_tick(self) -> None:
        self.emit(b"a")
        self.emit(b"b")
        self.assertEqual([], self.events)
        self.clock.advance(TICK)
        (event,) = self.events
        self.assertEqual({"id": "s", "offset": len(PROMPT), "data": "ab"}, to_wire(event))
        self.assertEqual(("ann", True, "s"), (event.owner, event.name.bulky, event.session_id))

    def test_event_after_the_session_ended_is_ignored(self) -> None:
        """Nothing is logged, or this test would fail."""
        self.gone = True
        self.hub.publish(make_event("session:updated", session_id="s"))
        self.emit(b"unheard")
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_unwanted_output_is_not_published(self) -> None:
        self.wanted = False
        self.emit(b"unseen")
        self.assertEqual([], self.clock.getDelayedCalls())
        self.wanted = True
        self.emit(b"seen")
        self.clock.advance(TICK)
        self.assertEqual("seen", to_wire(self.events[0])["data"])

    def test_flood_is_cut_to_its_newest_bytes(self) -> None:
        self.emit(b"x" * 3 * LARGEST)
        self.clock.advance(TICK)
        (event,) = self.events
        self.assertEqual(LARGEST, len(to_wire(event)["data"]))
        self.assertEqual(self.pane.log.end - LARGEST, to_wire(event)["offset"])

    def test_character_is_not_split(self) -> None:
        self.emit(b"1\xe2\x82")
        self.clock.advance(TICK)
        self.emit(b"\xac2")
        self.clock.advance(TICK)
        self.assertEqual(["1", "€2"], [to_wire(event)["data"] for event in self.events])
        self.assertEqual(len(PROMPT) + 1, to_wire(self.events[1])["offset"])

    def test_gap_in_the_log_is_skipped(self) -> None:
        self.emit(b"lost")
        self.pane.log.add_gap()
        self.clock.advance(TICK)
        self.assertEqual([], self.events)

    def test_deleted_session_is_unsubscribed(self) -> None:
        self.emit(b"x")
        self.hub.publish(make_event("session:deleted", session_id="s"))
        self.assertEqual([], self.clock.getDelayedCalls())
        self.assertEqual(0, len(self.pane.log._listeners))


class WholeCharactersTests(SynchronousTestCase):
    """L{whole_character_length}."""

    @settings(max_examples=example_count(100))
    @given(st.text(max_size=20), st.integers(0, 80))
    def test_text_cut_at_whole_characters_decodes(self, text: str, cut: int) -> None:
        data = text.encode("utf-8", "replace")[:cut]
        kept = data[: whole_character_length(data)]
        self.assertLessEqual(len(data) - len(kept), 3)
        self.assertTrue(text.encode("utf-8", "replace").decode().startswith(kept.decode()))

    @settings(max_examples=example_count(100))
    @given(st.binary(max_size=20))
    def test_cut_removes_at_most_three_bytes(self, data: bytes) -> None:
        self.assertLessEqual(len(data) - 3, whole_character_length(data))
