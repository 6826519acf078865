"""Parser of the text frames that a terminal client sends (protocol-websocket, C>S)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from attrs import frozen

from tservice.core.values.value_limits import exceeds_value_limit

MAX_COLS, MAX_ROWS = 500, 200
VIEWPORTS = ("mobile", "tablet", "desktop")
MAX_SEQ = 2**53
"""Limit of sequence numbers and offsets, up to which a browser's numbers are exact."""
MAX_VALUES = 64
"""Maximum number of values and names in a frame. Known frames have five fields; future ones may
have more.
"""


_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


class MalformedFrame(Exception):
    """Raised if a frame violates the protocol. The socket is closed with 1003 and this text."""


@frozen
class InputFrame:
    """Bytes to type, deduplicated by C{seq} under the socket's client id."""

    data: str
    seq: int | None


@frozen
class ResizeFrame:
    """Size of the client's terminal. C{force} overrides the size claim of a desktop."""

    cols: int
    rows: int
    viewport: str | None
    force: bool


@frozen
class DrawnFrame:
    """Acknowledgement that the client has drawn all output before C{offset}."""

    offset: int


@frozen
class ColoursFrame:
    """Colours of the client's terminal, as C{#rrggbb}."""

    foreground: str
    background: str


ClientFrame = InputFrame | ResizeFrame | DrawnFrame | ColoursFrame


def parse_frame(text: str) -> ClientFrame | None:
    """Parse a text frame. Return C{None} for a frame type that this version does not know.

    @raise MalformedFrame: C{text} is not a JSON object with a C{t}, has a missing field or one of a
        wrong type or range, or more than L{MAX_VALUES} values.
    """
    if exceeds_value_limit(text, MAX_VALUES):
        raise MalformedFrame(f"more than {MAX_VALUES} values and names")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        raise MalformedFrame("not JSON") from None
    if not isinstance(message, dict) or not isinstance(message.get("t"), str):
        raise MalformedFrame("not an object with a string t")
    read = _READERS.get(message["t"])
    return None if read is None else read(message)


def _parse_input(message: dict[str, Any]) -> InputFrame:
    data = message.get("d")
    if not isinstance(data, str):
        raise MalformedFrame("d must be a string")
    seq = message.get("seq")
    return InputFrame(data, None if seq is None else _read_integer(seq, "seq", 0, MAX_SEQ))


def _parse_resize(message: dict[str, Any]) -> ResizeFrame:
    viewport, force = message.get("v"), message.get("f", False)
    if viewport is not None and viewport not in VIEWPORTS:
        raise MalformedFrame(f"v must be one of {', '.join(VIEWPORTS)}")
    if not isinstance(force, bool):
        raise MalformedFrame("f must be a boolean")
    cols = _read_integer(message.get("c"), "c", 1, MAX_COLS)
    return ResizeFrame(cols, _read_integer(message.get("r"), "r", 1, MAX_ROWS), viewport, force)


def _parse_drawn(message: dict[str, Any]) -> DrawnFrame:
    return DrawnFrame(_read_integer(message.get("offset"), "offset", 0, MAX_SEQ))


def _parse_colours(message: dict[str, Any]) -> ColoursFrame:
    return ColoursFrame(_read_colour(message, "fg"), _read_colour(message, "bg"))


def _read_colour(message: dict[str, Any], name: str) -> str:
    value = message.get(name)
    if not isinstance(value, str) or not _COLOUR.fullmatch(value):
        raise MalformedFrame(f"{name} must be a colour such as #1d2630")
    return value


def _read_integer(value: object, name: str, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        raise MalformedFrame(f"{name} must be a whole number from {low} to {high}")
    return value


_READERS: dict[str, Callable[[dict[str, Any]], ClientFrame]] = {
    "i": _parse_input,
    "z": _parse_resize,
    "got": _parse_drawn,
    "colours": _parse_colours,
}
