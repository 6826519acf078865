"""Rules for codes, addresses and retry delays (protocol-tunnel)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from ipaddress import ip_address
from string import ascii_letters, digits

ALPHABET = digits + ascii_letters
CODE_LENGTH = 6

ROTATION_SECONDS = 60.0
"""Seconds after which a displayed code is replaced (protocol-qr)."""

GRACE_SECONDS = 90.0
"""Seconds that a code stays valid after its replacement (protocol-qr)."""

URL_SECONDS = 30.0
"""Seconds in which the tunnel program must print its public address (protocol-tunnel)."""

STEADY_SECONDS = 60.0
"""Seconds that a tunnel must stay open to count as stable. The next retry then has the shortest
delay.
"""

LONGEST_WAIT = 60.0
LONGEST_REASON = 300

_CODE = re.compile(rf"[0-9A-Za-z]{{{CODE_LENGTH}}}")
_FAIR = 256 - 256 % len(ALPHABET)
_URL = re.compile(r"https://([A-Za-z0-9.-]+)(:[0-9]{1,5})?(?=[/\s|\"'<>),;\]\x1b]|\Z)")
_NAME = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))+")
_PROVIDERS_HOSTS = re.compile(
    r"(.*\.)?cloudflare\.com|api\.trycloudflare\.com|(.*\.)?github\.com|(.*\.)?tailscale\.com"
)
"""Hosts that occur in notices and errors of tunnel programs, and are not the public address."""


TUNNEL_PROGRAMS = ("cloudflared", "tailscale")
"""Programs that open a tunnel, with a known command line."""


def build_tunnel_command(program: str, url: str) -> tuple[str, ...]:
    """Return the command line that opens a tunnel and stays in the foreground.

    @param program: path of the program.  One that is not called C{tailscale} gets the arguments of
        cloudflared.
    @param url: the service's URL on this machine.
    """
    if os.path.basename(program) == "tailscale":
        # The service's own certificate names another host.
        target = url.replace("https://", "https+insecure://", 1)
        return (program, "funnel", target)
    return (program, "tunnel", "--url", url)


def generate_code(random: Callable[[int], bytes]) -> str:
    """Return a random code of six letters and digits, all equally likely.

    Random bytes that would make some characters more likely than others are discarded.

    @param random: returns this many unpredictable bytes.
    """
    letters: list[str] = []
    while len(letters) < CODE_LENGTH:
        drawn = random(CODE_LENGTH - len(letters))
        letters += [ALPHABET[byte % len(ALPHABET)] for byte in drawn if byte < _FAIR]
    return "".join(letters)


def has_code_form(text: str) -> bool:
    """Return true if C{text} has the length and the characters of a code."""
    return _CODE.fullmatch(text) is not None


def find_public_url(line: str) -> str | None:
    """Return the public address in a line of the tunnel program's output.

    Only C{https} addresses count, as passwords and cookies are sent over the tunnel. Addresses of
    this machine, IP literals and addresses of the providers are ignored.

    @return: scheme, host and port, without a slash at the end; C{None} if the line contains none.
    """
    for found in _URL.finditer(line):
        host = found[1].lower().removesuffix(".")
        if _is_public_name(host):
            return f"https://{host}{found[2] or ''}"
    return None


def get_url_host(url: str) -> str:
    """Return the host name of an address found by L{find_public_url}."""
    return url.removeprefix("https://").partition(":")[0]


def _is_public_name(host: str) -> bool:
    if _NAME.fullmatch(host) is None or _PROVIDERS_HOSTS.fullmatch(host) is not None:
        return False
    if host.endswith((".localhost", ".local")):
        return False
    try:
        ip_address(host)
    except ValueError:
        return True
    return False


def get_retry_delay(failures: int) -> float:
    """Return the seconds to wait before the next attempt: 1, 2, 4 and so on, at most 60.

    @param failures: number of failures in a row.
    """
    return min(LONGEST_WAIT, 2.0 ** min(failures - 1, 16))


def clean_line(line: str) -> str:
    """Return a line of another program's output in a form that is safe and short enough for an
    error text.
    """
    text = "".join(sign if sign.isprintable() else " " for sign in line).strip()
    return text if len(text) <= LONGEST_REASON else text[: LONGEST_REASON - 3] + "..."
