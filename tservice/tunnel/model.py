"""Pure rules for codes, addresses and delays (protocol-tunnel)."""

from __future__ import annotations

import re
from collections.abc import Callable
from ipaddress import ip_address
from string import ascii_letters, digits

ALPHABET = digits + ascii_letters
CODE_LENGTH = 6

ROTATION_SECONDS = 60.0
"""Seconds that a code is displayed (protocol-qr)."""

GRACE_SECONDS = 90.0
"""Seconds that a code stays valid after its replacement (protocol-qr)."""

URL_SECONDS = 30.0
"""Seconds for the tunnel's program to print its address (protocol-tunnel)."""

STEADY_SECONDS = 60.0
"""Seconds after which a tunnel counts as stable, so that its delays start again at the
shortest.
"""

LONGEST_WAIT = 60.0
LONGEST_REASON = 300

_CODE = re.compile(rf"[0-9A-Za-z]{{{CODE_LENGTH}}}")
_FAIR = 256 - 256 % len(ALPHABET)
_URL = re.compile(r"https://([A-Za-z0-9.-]+)(:[0-9]{1,5})?(?=[/\s|\"'<>),;\]\x1b]|\Z)")
_NAME = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))+")
_CLOUDFLARED_HOSTS = re.compile(
    r"(.*\.)?cloudflare\.com|api\.trycloudflare\.com|(.*\.)?github\.com"
)
"""Hosts that cloudflared names in its notices and errors."""


def generate_code(random: Callable[[int], bytes]) -> str:
    """Return six letters and digits, all equally likely.

    Bytes that would make some characters more likely than others are discarded.

    @param random: returns this many unguessable bytes.
    """
    letters: list[str] = []
    while len(letters) < CODE_LENGTH:
        drawn = random(CODE_LENGTH - len(letters))
        letters += [ALPHABET[byte % len(ALPHABET)] for byte in drawn if byte < _FAIR]
    return "".join(letters)


def has_code_form(text: str) -> bool:
    """Return true if C{text} has the form of a code."""
    return _CODE.fullmatch(text) is not None


def find_public_url(line: str) -> str | None:
    """Return the public address in a line printed by the tunnel's program.

    Only C{https} counts, as passwords and cookies are sent over it.  Addresses of this machine, IP
    literals and cloudflared's own addresses do not count.

    @return: scheme, host and port, without a final slash; C{None}: there is none.
    """
    for found in _URL.finditer(line):
        host = found[1].lower().removesuffix(".")
        if _is_public_name(host):
            return f"https://{host}{found[2] or ''}"
    return None


def url_host(url: str) -> str:
    """Return the host of an address found by L{find_public_url}."""
    return url.removeprefix("https://").partition(":")[0]


def _is_public_name(host: str) -> bool:
    if _NAME.fullmatch(host) is None or _CLOUDFLARED_HOSTS.fullmatch(host) is not None:
        return False
    if host.endswith((".localhost", ".local")):
        return False
    try:
        ip_address(host)
    except ValueError:
        return True
    return False


def retry_delay(failures: int) -> float:
    """Return the seconds until the next try, after so many failures in a row: 1, 2, 4, ... 60."""
    return min(LONGEST_WAIT, 2.0 ** min(failures - 1, 16))


def clean_line(line: str) -> str:
    """Return a line of another program, made fit for an error text."""
    text = "".join(sign if sign.isprintable() else " " for sign in line).strip()
    return text if len(text) <= LONGEST_REASON else text[: LONGEST_REASON - 3] + "..."
