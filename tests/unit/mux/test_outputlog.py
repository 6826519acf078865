"""The ring keeps exact bytes at exact offsets within its bound, whatever is thrown at it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tservice.mux.outputlog import SEGMENT, OutputLog

CAPACITY = 3 * SEGMENT

chunks = st.integers(0, 2 * SEGMENT).flatmap(
    lambda size: st.integers(0, 255).map(lambda byte: bytes([byte]) * size)
)
steps = st.lists(st.one_of(chunks, st.none()), max_size=12)


class OutputLogTests(SynchronousTestCase):
    """L{OutputLog} against a model that keeps everything."""

    @settings(max_examples=example_count(400), deadline=None)
    @given(steps, st.integers(1, 3 * SEGMENT), st.randoms(use_true_random=False))
    def test_every_held_offset_reads_the_written_bytes(self, plan, limit, random) -> None:  # type: ignore[no-untyped-def]
        log, model, floor = OutputLog(CAPACITY, "e"), bytearray(), 0
        for step in plan:
            if step is None:
                log.add_gap()
                model += b"?"
                floor = len(model)
            else:
                log.append(step)
                model += step
            self.assertEqual(len(model), log.end)
            self.assertGreaterEqual(log.start, floor)
            self.assertLessEqual(log.end - log.start, CAPACITY + SEGMENT)
            self.assertGreaterEqual(log.end - log.start, min(CAPACITY, len(model) - floor))
            offset = random.randint(log.start, log.end)
            want = bytes(model[offset : offset + limit])
            self.assertEqual(want, log.read(offset, limit))
            self.assertEqual(want, log.read(offset, limit))

    def test_offset_outside_the_log_is_refused(self) -> None:
        log = OutputLog(CAPACITY, "e")
        log.append(b"abc")
        self.assertRaises(LookupError, log.read, 4, 1)
        log.add_gap()
        self.assertFalse(log.has_offset(3))
        self.assertRaises(LookupError, log.read, 3, 1)
        self.assertEqual(b"", log.read(4, 1))

    def test_many_small_writes_share_output_segments(self) -> None:
        """A keystroke's echo costs its bytes, not an object each."""
        log = OutputLog(CAPACITY, "e")
        for _ in range(SEGMENT):
            log.append(b"x")
        self.assertEqual(1, len(log._segments))

    def test_readers_at_one_offset_share_one_copy(self) -> None:
        log = OutputLog(CAPACITY, "e")
        log.append(b"abc")
        self.assertIs(log.read(0, 9), log.read(0, 9))

    def test_listeners_are_called_for_each_append(self) -> None:
        log, heard = OutputLog(CAPACITY, "e"), list[int]()
        end = log.subscribe(lambda: heard.append(log.end))
        log.append(b"")
        log.append(b"ab")
        log.add_gap()
        end()
        end()
        log.append(b"c")
        self.assertEqual([2, 3], heard)

    def test_finished_log_is_kept_for_its_readers(self) -> None:
        log = OutputLog(CAPACITY, "e")
        log.append(b"abc")
        first, second = log.subscribe(lambda: None), log.subscribe(lambda: None)
        log.finish()
        first()
        self.assertEqual(b"abc", log.read(0, 9))
        second()
        self.assertEqual((3, 3, False), (log.start, log.end, log.has_offset(0)))
        self.assertEqual(b"", log.read(3, 9))
        log.append(b"late")
        self.assertEqual(b"late", log.read(3, 9))

    def test_failing_listener_does_not_silence_the_others(self) -> None:
        log, heard = OutputLog(CAPACITY, "e"), list[int]()
        log.subscribe(lambda: 1 // 0)  # type: ignore[arg-type]
        log.subscribe(lambda: heard.append(1))
        log.append(b"a")
        self.assertEqual([1], heard)
        self.assertEqual(1, len(self.flushLoggedErrors(ZeroDivisionError)))
