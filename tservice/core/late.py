"""A value that is made after those who will ask for it."""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")


class Late(Generic[T]):
    """Stands for something in the constructors of what it itself is made from.

    Who is handed one calls it when the value is needed, which is never while the program is
    still being put together.
    """

    def __init__(self, name: str) -> None:
        """@param name: what is awaited, for the error of who asks too early."""
        self._name = name
        self._values: list[T] = []

    def set(self, value: T) -> T:
        """It is there from now on, for good.

        @return: the value, to go on with.
        @raise RuntimeError: there is one already.
        """
        if self._values:
            raise RuntimeError(f"{self._name} is there already")
        self._values.append(value)
        return value

    def __call__(self) -> T:
        """@raise RuntimeError: it is not there yet."""
        if not self._values:
            raise RuntimeError(f"{self._name} is not there yet")
        return self._values[0]
