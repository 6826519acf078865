"""Replies that a terminal emulator sends by itself, without user input (protocol-reports)."""

from __future__ import annotations

import re

_PARTS = (
    rb"\x1b\[[IO]",  # focus came, focus went
    rb"\x1b\[[?>=][\d;]*c",  # device attributes
    rb"\x1b\[\??(?!1;[2-8]R)\d{1,4};\d{1,4}(?:;\d{1,4})?R",  # the cursor; 1;2R to 1;8R are F3
    rb"\x1b\[0n",  # the state of the device
    rb"\x1b\[\??[\d;]{1,16}\$y",  # a mode
    rb"\x1b\[[\d;]{1,24}t",  # the window's size
    rb"\x1b\[\?\d{1,4}u",  # keyboard flags
    rb"\x1b\](?:4;\d{1,3}|1\d);rgba?:[\da-f/]{1,32}(?:\x07|\x1b\\)",  # a colour
    rb"\x1bP[01]\$r[\d;: ]{0,32}[\"' ]?[a-zA-Z]?\x1b\\",  # a setting
    rb"\x1bP[01]\+r[\da-fA-F=;]{0,256}\x1b\\",  # a capability, in hexadecimal digits
    rb"\x1bP>\|xterm\.js\([\d.a-z-]{1,24}\)\x1b\\",  # its name and version
)
_REPORTS = re.compile(rb"(?:" + rb"|".join(_PARTS) + rb")+")


def is_terminal_report(data: bytes) -> bool:
    """Return true if C{data} consists of complete replies of a terminal emulator and nothing else.

    Mouse reports and keys are user input.
    """
    return data.startswith(b"\x1b") and _REPORTS.fullmatch(data) is not None
