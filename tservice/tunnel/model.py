"""Codes, addresses and waiting times: the rules that need nothing else (protocol-tunnel)."""

from __future__ import annotations

import re
from collections.abc import Callable
from ipaddress import ip_address
from string import ascii_letters, digits

ALPHABET = digits + ascii_letters
CODE_LENGTH = 6

ROTATION_SECONDS = 60.0
"""How long a code is the one that is shown (protocol-qr)."""

GRACE_SECONDS = 90.0
"""How long a code still works after it was replaced (protocol-qr)."""

URL_SECONDS = 30.0
"""How long the tunnel's program may take to print its address (protocol-tunnel)."""

STEADY_SECONDS = 60.0
"""A tunnel that was up so long begins its waiting times anew when it ends."""

LONGEST_WAIT = 60.0
LONGEST_REASON = 300

_CODE = re.compile(rf"[0-9A-Za-z]{{{CODE_LENGTH}}}")
_FAIR = 256 - 256 % len(ALPHABET)
_URL = re.compile(r"https://([A-Za-z0-9.-]+)(:[0-9]{1,5})?(?=[/\s|\"'<>),;\]\x1b]|\Z)")
_NAME = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))+")
_OTHERS = re.compile(r"(.*\.)?cloudflare\.com|api\.trycloudflare\.com|(.*\.)?github\.com")
"""Hosts that cloudflared names in its notices and errors."""


def new_code(random: Callable[[int], bytes]) -> str:
    """Six letters and digits, each equally likely.

    A byte that would make some letters likelier than others is thrown away.

    @param random: gives so many unguessable bytes.
    """
    letters: list[str] = []
    while len(letters) < CODE_LENGTH:
        drawn = random(CODE_LENGTH - len(letters))
        letters += [ALPHABET[byte % len(ALPHABET)] for byte in drawn if byte < _FAIR]
    return "".join(letters)


def is_code(text: str) -> bool:
    """Whether C{text} has the form of a code."""
    return _CODE.fullmatch(text) is not None


def find_url(line: str) -> str | None:
    """The public address in a line that the tunnel's program printed.

    Only C{https}: passwords and cookies go over it.  Addresses of this machine, IP literals and
    what cloudflared says about itself are none.

    @return: scheme, host and port, without a slash at the end; C{None}: there is none.
    """
    for found in _URL.finditer(line):
        host = found[1].lower().removesuffix(".")
        if _is_public_name(host):
            return f"https://{host}{found[2] or ''}"
    return None


def host_of(url: str) -> str:
    """The host of an address that L{find_url} found."""
    return url.removeprefix("https://").partition(":")[0]


def _is_public_name(host: str) -> bool:
    if _NAME.fullmatch(host) is None or _OTHERS.fullmatch(host) is not None:
        return False
    if host.endswith((".localhost", ".local")):
        return False
    try:
        ip_address(host)
    except ValueError:
        return True
    return False


def wait_after(failures: int) -> float:
    """Seconds until the next try, after so many in a row that failed: 1, 2, 4, ... 60."""
    return min(LONGEST_WAIT, 2.0 ** min(failures - 1, 16))


def legible(line: str) -> str:
    """A line of a foreign program, fit for an error text."""
    text = "".join(sign if sign.isprintable() else " " for sign in line).strip()
    return text if len(text) <= LONGEST_REASON else text[: LONGEST_REASON - 3] + "..."
