"""Tests for L{tservice.core.threads}."""

from __future__ import annotations

import threading

from twisted.internet import reactor
from twisted.trial.unittest import SynchronousTestCase, TestCase

from tservice.core.threads import NoThreads, Threads


class ThreadsTests(TestCase):
    """Real threads: the result comes back to the reactor's."""

    def setUp(self) -> None:
        self.threads = Threads(reactor)  # type: ignore[arg-type]
        self.threads.startService()
        self.addCleanup(self.threads.stopService)

    async def test_result(self) -> None:
        here = threading.get_ident()
        self.assertNotEqual(here, await self.threads.run(threading.get_ident))
        self.assertEqual(here, threading.get_ident())

    async def test_fault(self) -> None:
        with self.assertRaises(ZeroDivisionError):
            await self.threads.run(lambda: 1 // 0)

    async def test_no_thread_is_left(self) -> None:
        thread = await self.threads.run(threading.current_thread)
        self.threads.stopService()
        self.assertFalse(thread.is_alive())


class NoThreadsTests(SynchronousTestCase):
    def test_at_once(self) -> None:
        done = NoThreads().run(threading.get_ident)
        self.assertEqual(threading.get_ident(), self.successResultOf(done))
