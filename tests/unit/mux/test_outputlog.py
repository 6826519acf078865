"""The ring of a session's output, against a plain list of bytes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tservice.mux.outputlog import SEGMENT, OutputLog

CAPACITY = 2 * SEGMENT


class OutputLogTests(SynchronousTestCase):
    @settings(max_examples=150, deadline=None)
    @given(st.lists(st.integers(0, 3 * SEGMENT) | st.none(), max_size=12), st.data())
    def test_like_a_plain_string(self, steps: list[int | None], choice: st.DataObject) -> None:
        """What it holds is exact, it holds enough and never much more; None is a gap."""
        log, whole = OutputLog(CAPACITY, "e"), bytearray()
        gap = 0
        for number, size in enumerate(steps):
            if size is None:
                log.gap()
                whole += b"?"
                gap = len(whole)
            else:
                data = bytes([number]) * size
                log.append(data)
                whole += data
        self.assertEqual(len(whole), log.end)
        self.assertLessEqual(log.end - log.start, CAPACITY + SEGMENT)
        self.assertLessEqual(log.start, max(gap, log.end - CAPACITY))
        self.assertGreaterEqual(log.start, gap)
        offset = choice.draw(st.integers(log.start, log.end))
        limit = choice.draw(st.integers(0, CAPACITY))
        self.assertEqual(bytes(whole[offset : offset + limit]), log.read(offset, limit))

    def test_what_is_not_held(self) -> None:
        log = OutputLog(1, "e")
        log.append(b"ab")
        self.assertRaises(LookupError, log.read, 3, 1)
        log.gap()
        self.assertFalse(log.holds(2))
        self.assertRaises(LookupError, log.read, 2, 1)
        self.assertEqual(b"", log.read(3, 1))

    def test_listeners(self) -> None:
        """Each change is told; a listener that fails does not keep the others from hearing."""
        log, told = OutputLog(1, "e"), list[int]()

        def fail() -> None:
            raise ValueError("scripted")

        log.subscribe(fail)
        stop = log.subscribe(lambda: told.append(log.end))
        log.append(b"a")
        log.append(b"")
        log.gap()
        stop()
        stop()
        log.append(b"b")
        self.assertEqual([1, 2], told)
        self.assertEqual(3, len(self.flushLoggedErrors(ValueError)))
