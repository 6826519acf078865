"""Parsers from an operator's raw value to a typed value, one for each kind of setting.

A parser takes text (from the environment or the command line) or a YAML value.  It raises
C{ValueError} with the broken rule, never with the value itself: a value may be a secret.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

Parser = Callable[[object], object]

_YES = frozenset({"1", "true", "yes", "on"})
_NO = frozenset({"0", "false", "no", "off"})
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_HOST = re.compile(r"\.?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*\.?")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SEGMENTS = re.compile(r"(/[A-Za-z0-9._~-]+)*")
_LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})


def parse_text(raw: object) -> str:
    """Parse one line of text without control characters."""
    if not isinstance(raw, str) or not raw or _CONTROL.search(raw):
        raise ValueError("must be one line of text")
    return raw


def parse_user_name(raw: object) -> str:
    """Parse a user name.  Colons are refused, because Basic authentication ends the name at a
    colon.
    """
    name = parse_text(raw)
    if ":" in name:
        raise ValueError("must not hold a colon")
    return name


def parse_boolean(raw: object) -> bool:
    """Parse a YAML Boolean, or a usual spelling such as C{yes} or C{off}."""
    if isinstance(raw, bool):
        return raw
    word = str(raw).lower() if isinstance(raw, str | int) else ""
    if word in _YES:
        return True
    if word in _NO:
        return False
    raise ValueError("must be one of 1, 0, true, false, yes, no, on, off")


def make_integer_parser(least: int, most: int) -> Parser:
    """Return a parser of whole numbers from C{least} to C{most}."""

    def parse_integer(raw: object) -> int:
        rule = f"must be a whole number from {least} to {most}"
        if isinstance(raw, bool) or not isinstance(raw, str | int):
            raise ValueError(rule)
        if isinstance(raw, str) and not re.fullmatch(r"[0-9]{1,18}", raw):
            raise ValueError(rule)
        if not least <= int(raw) <= most:
            raise ValueError(rule)
        return int(raw)

    return parse_integer


def make_choice_parser(*words: str) -> Parser:
    """Return a parser that accepts exactly one of C{words}."""

    def parse_choice(raw: object) -> str:
        if not isinstance(raw, str) or raw not in words:
            raise ValueError("must be one of " + ", ".join(words))
        return raw

    return parse_choice


def make_list_parser(item: Callable[[object], str]) -> Parser:
    """Return a parser of a YAML list or comma-separated text; each item is parsed by C{item}."""

    def parse_list(raw: object) -> tuple[str, ...]:
        if isinstance(raw, str):
            raw = [part for part in (part.strip() for part in raw.split(",")) if part]
        if not isinstance(raw, list | tuple):
            raise ValueError("must be a list, or text with commas between the items")
        return tuple(item(part) for part in raw)

    return parse_list


def parse_path(raw: object) -> Path:
    """Parse a path; a leading C{~} is expanded later, when the configuration is created."""
    return Path(parse_text(raw))


def parse_export(raw: object) -> str:
    """Parse the target of the audit export: C{syslog} or the absolute path of a file."""
    found = parse_text(raw)
    if found != "syslog" and not Path(found).is_absolute():
        raise ValueError("must be syslog or an absolute path")
    return found


def parse_host(raw: object) -> str:
    """Parse a host name, or a suffix that starts with a dot (protocol-hosts)."""
    name = parse_text(raw).lower()
    if not _HOST.fullmatch(name):
        raise ValueError("must be host names or suffixes with a leading dot")
    return name


def parse_local_origin(raw: object) -> str:
    """Parse C{http(s)://localhost[:port]}; other origins are never allowed for CORS
    (protocol-hosts).
    """
    parts = urlsplit(parse_text(raw))
    rule = "must be origins on localhost, such as http://localhost:5173"
    if parts.scheme not in ("http", "https") or parts.hostname not in _LOCAL_HOSTS:
        raise ValueError(rule)
    if parts.path or parts.query or parts.fragment or "@" in parts.netloc:
        raise ValueError(rule)
    return f"{parts.scheme}://{parts.netloc.lower()}"


def parse_network(raw: object) -> str:
    """Parse an address or a network, such as C{10.0.0.0/8}."""
    try:
        return str(ipaddress.ip_network(parse_text(raw), strict=False))
    except ValueError:
        raise ValueError("must be addresses or networks, such as 10.0.0.0/8") from None


def parse_url_prefix(raw: object) -> str:
    """Parse the path under which a reverse proxy serves the service, without a trailing slash."""
    if not isinstance(raw, str):
        raise ValueError("must be a path such as /tservice")
    prefix = raw.rstrip("/")
    if not _SEGMENTS.fullmatch(prefix) or {".", ".."} & set(prefix.split("/")):
        raise ValueError("must be a path such as /tservice")
    return prefix


def make_url_parser(*schemes: str) -> Parser:
    """Return a parser of absolute URLs with one of C{schemes} and a host."""

    def parse_url(raw: object) -> str:
        address = parse_text(raw)
        parts = urlsplit(address)
        if parts.scheme not in schemes or not parts.hostname:
            raise ValueError("must be a URL that starts with " + " or ".join(schemes))
        return address.rstrip("/")

    return parse_url


def parse_variable(raw: object) -> str:
    """Parse the name of an environment variable; names of the service's own variables are
    refused.
    """
    name = parse_text(raw)
    if not _VARIABLE.fullmatch(name) or name.startswith("SERVICE_"):
        raise ValueError("must be names of environment variables, none starting SERVICE_")
    return name
