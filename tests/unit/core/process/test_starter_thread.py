"""A thread that starts a child with its restrictions."""

from __future__ import annotations

import threading

from twisted.trial.unittest import SynchronousTestCase

from tests.waiting import wait_until
from tservice.core.process.starter_thread import start_in_thread


class StarterThreadTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.steps: list[tuple[str, threading.Thread]] = []

    def note(self, step: str) -> None:
        self.steps.append((step, threading.current_thread()))

    def test_thread_lives_until_it_is_released(self) -> None:
        release = start_in_thread(lambda: self.note("restrict"), lambda: self.note("spawn"))
        (first, thread), (second, other) = self.steps
        self.assertEqual(("restrict", "spawn", thread), (first, second, other))
        self.assertIsNot(threading.current_thread(), thread)
        self.assertTrue(thread.is_alive())
        release()
        wait_until("the thread ended", lambda: not thread.is_alive())

    def test_error_of_either_step_is_raised_and_ends_the_thread(self) -> None:
        before = set(threading.enumerate())

        def refuse() -> None:
            raise OSError(1, "refused")

        with self.assertRaisesRegex(OSError, "refused"):
            start_in_thread(refuse, lambda: self.note("spawn"))
        self.assertEqual([], self.steps)
        with self.assertRaisesRegex(OSError, "refused"):
            start_in_thread(lambda: self.note("restrict"), refuse)
        wait_until("the threads ended", lambda: set(threading.enumerate()) <= before)
