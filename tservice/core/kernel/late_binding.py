"""Reference to a value that is created after the objects that use it."""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")


class LateBinding(Generic[T]):
    """Placeholder that is passed to constructors for an object that is created later.

    Call the placeholder to get the object.  Do this only when the object is needed, never while the
    program is still being assembled.
    """

    def __init__(self, name: str) -> None:
        """@param name: describes the value in the error text of a call that comes too early."""
        self._name = name
        self._values: list[T] = []

    def bind_value(self, value: T) -> T:
        """Bind the value; it cannot be changed later.

        @return: the value.
        @raise RuntimeError: a value is already bound.
        """
        if self._values:
            raise RuntimeError(f"{self._name} is already bound")
        self._values.append(value)
        return value

    def __call__(self) -> T:
        """Return the bound value.

        @raise RuntimeError: no value is bound yet.
        """
        if not self._values:
            raise RuntimeError(f"{self._name} is not bound yet")
        return self._values[0]
