"""Pictures, and how they come into a page."""

from __future__ import annotations

import base64
import struct
import zlib

from playwright.sync_api import Locator

_BRING = """(place, { kind, name, type, data }) => {
  const transfer = new DataTransfer();
  const bytes = Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
  transfer.items.add(new File([bytes], name, { type }));
  const options = { bubbles: true, cancelable: true };
  place.dispatchEvent(
    kind === "drop"
      ? new DragEvent("drop", { ...options, dataTransfer: transfer })
      : new ClipboardEvent("paste", { ...options, clipboardData: transfer }),
  );
}"""


def make_picture(width: int = 4) -> bytes:
    """A square PNG of one colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    rows = (b"\0" + b"\x40\xc0\x90" * width) * width
    head = struct.pack(">IIBBBBB", width, width, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b""))
    )


def bring_file(place: Locator, kind: str, name: str, content: bytes) -> None:
    """Drop or paste a file, as a browser would.

    @param kind: C{drop} or C{paste}.
    """
    media = "image/png" if name.endswith(".png") else ""
    data = base64.b64encode(content).decode()
    place.evaluate(_BRING, {"kind": kind, "name": name, "type": media, "data": data})
