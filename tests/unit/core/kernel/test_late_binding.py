"""Tests for L{tservice.core.kernel.late_binding}."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tservice.core.kernel.late_binding import LateBinding


class LateBindingTests(SynchronousTestCase):
    def test_value_is_available_once_set(self) -> None:
        late: LateBinding[int] = LateBinding("the number")
        error = self.assertRaises(RuntimeError, late)
        self.assertEqual("the number is not bound yet", str(error))
        self.assertEqual(7, late.bind_value(7))
        self.assertEqual(7, late())

    def test_value_can_be_set_only_once(self) -> None:
        late: LateBinding[str | None] = LateBinding("it")
        late.bind_value(None)
        self.assertRaises(RuntimeError, late.bind_value, "x")
        self.assertIsNone(late())
