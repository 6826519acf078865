"""Whoever is told of something."""

from __future__ import annotations

from collections.abc import Callable

from twisted.trial.unittest import SynchronousTestCase

from tservice.core.kernel.listeners import ListenerList


class ListenersTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.listeners: ListenerList[Callable[[int], object]] = ListenerList("numbers")
        self.heard: list[tuple[str, int]] = []

    def hear(self, name: str) -> Callable[[], None]:
        return self.listeners.add(lambda number: self.heard.append((name, number)))

    def tell(self, number: int) -> None:
        self.listeners.notify_all(lambda listener: listener(number))

    def test_listeners_are_called_in_order(self) -> None:
        self.hear("a")
        end = self.hear("b")
        self.tell(1)
        end()
        end()
        self.tell(2)
        self.assertEqual([("a", 1), ("b", 1), ("a", 2)], self.heard)
        self.assertEqual(1, len(self.listeners))

    def test_listener_added_twice_is_called_twice(self) -> None:
        ends = [self.listeners.add(self.heard_once) for _ in range(2)]
        self.tell(1)
        ends[0]()
        self.tell(2)
        self.assertEqual([("once", 1), ("once", 1), ("once", 2)], self.heard)

    def heard_once(self, number: int) -> None:
        self.heard.append(("once", number))

    def test_failing_listener_does_not_affect_others(self) -> None:
        self.listeners.add(lambda number: 1 // number)
        self.hear("a")
        self.tell(0)
        self.assertEqual([("a", 0)], self.heard)
        self.assertEqual(1, len(self.flushLoggedErrors(ZeroDivisionError)))

    def test_listener_added_during_a_call_receives_the_next(self) -> None:
        self.listeners.add(lambda number: self.hear(f"of {number}"))
        self.tell(1)
        self.assertEqual([], self.heard)
        self.tell(2)
        self.assertEqual([("of 1", 2)], self.heard)

    def test_all_listeners_can_be_removed(self) -> None:
        self.hear("a")
        self.listeners.clear()
        self.tell(1)
        self.assertEqual([], self.heard)
