"""End of a check's output, which is kept while the check runs."""

from __future__ import annotations

OUTPUT_BYTES = 16 * 1024 * 1024
"""Maximum bytes that a check may print.  It is ended when it prints more."""
TAIL_BYTES = 64 * 1024
"""Number of bytes that are kept from the end of a check's output."""


class OutputTail:
    """Receiver of a check's output and errors, in the order in which they arrive.

    @ivar is_flooded: true if the check printed more than L{OUTPUT_BYTES}.
    """

    def __init__(self) -> None:
        self.is_flooded = False
        self._kept = bytearray()
        self._size = 0

    def add_piece(self, data: bytes) -> None:
        """Keep the end of the output."""
        self._size += len(data)
        self.is_flooded = self._size > OUTPUT_BYTES
        self._kept += data[-TAIL_BYTES:]
        del self._kept[:-TAIL_BYTES]

    def get_bytes(self) -> bytes:
        """Return the end of the output."""
        return bytes(self._kept)
