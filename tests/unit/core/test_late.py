"""Tests for L{tservice.core.late}."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tservice.core.late import Late


class LateTests(SynchronousTestCase):
    def test_it_is_there_once_it_was_set(self) -> None:
        late: Late[int] = Late("the number")
        error = self.assertRaises(RuntimeError, late)
        self.assertEqual("the number is not bound yet", str(error))
        self.assertEqual(7, late.set(7))
        self.assertEqual(7, late())

    def test_nothing_takes_its_place(self) -> None:
        late: Late[str | None] = Late("it")
        late.set(None)
        self.assertRaises(RuntimeError, late.set, "x")
        self.assertIsNone(late())
