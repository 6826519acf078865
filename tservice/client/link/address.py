"""Address and credentials of a service, from the environment or from C{tsctl.yaml}.

Records are named tuples: C{tsctl} is started often, and importing attrs takes longer than most
commands.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from tservice.client.errors import Unusable

DEFAULT_URL = "http://127.0.0.1:8770"
DEFAULT_USER = "admin"
CONFIG = Path(".config/tservice/tsctl.yaml")
"""Path of the configuration file below the home folder."""
KEYS = ("url", "token", "tokenFile", "user", "password", "fingerprint")
"""Keys with which C{tsctl.yaml} describes one service."""

_FINGERPRINT = re.compile(r"[0-9A-Fa-f]{64}")
_HEADER = re.compile(r"[\x21-\x7e]+")


class ServiceAddress(NamedTuple):
    """Address of a service, and credentials for it.

    @ivar host: host of the URL. C{localhost} if a unix socket is used.
    @ivar base: path of the URL before C{/api}, without a slash at the end.
    @ivar unix: path of the unix socket. Empty for TCP.
    @ivar authorization: value of the C{Authorization} header. Empty for none.
    @ivar fingerprint: SHA-256 of the only accepted certificate. Empty means the usual checks.
    """

    host: str
    port: int
    tls: bool = False
    base: str = ""
    unix: str = ""
    authorization: str = ""
    fingerprint: bytes = b""


def address_from_environment(
    environ: Mapping[str, str], home: Path, name: str | None = None
) -> ServiceAddress:
    """Return the address and credentials of the service to use.

    @param name: name of a service in C{tsctl.yaml}. The environment is then ignored, so that the
        token of one service is never sent to another.
    @raise Unusable: a value is invalid, or the file cannot be used.
    """
    if name is not None:
        return _find_named_address(home / CONFIG, name, home)
    words = {
        "url": environ.get("TSCTL_URL") or environ.get("SERVICE_API_URL") or DEFAULT_URL,
        "token": environ.get("TSCTL_TOKEN", ""),
        "tokenFile": environ.get("TSCTL_TOKEN_FILE", ""),
        "user": environ.get("TSCTL_USER", ""),
        "password": environ.get("TSCTL_PASSWORD", ""),
        "fingerprint": environ.get("TSCTL_FINGERPRINT", ""),
    }
    return _build_address(words, "TSCTL_", home)


def address_from_mapping(words: Mapping[str, str], home: Path) -> ServiceAddress:
    """Build the address and credentials from a mapping whose keys are in L{KEYS}.

    @raise Unusable: a value is invalid, or a key is unknown.
    """
    unknown = sorted(set(words) - set(KEYS))
    if unknown:
        raise Unusable(f"unknown key {unknown[0]!r}; known are {', '.join(KEYS)}")
    return _build_address(words, "", home)


def _find_named_address(path: Path, name: str, home: Path) -> ServiceAddress:
    services = _read_services(path)
    if name not in services:
        known = ", ".join(sorted(services)) or "none"
        raise Unusable(f"{path} has no service {name!r}; known are: {known}")
    words = services[name]
    for key, value in words.items():
        if key not in KEYS:
            raise Unusable(f"{path}: {name}: unknown key {key!r}; known are {', '.join(KEYS)}")
        if not isinstance(value, str):
            raise Unusable(f"{path}: {name}: {key} must be a text")
    return _build_address(words, f"{path}: {name}: ", home)


def _read_services(path: Path) -> dict[str, dict[str, str]]:
    import yaml

    text = _read_private(path)
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = "" if mark is None else f" (line {mark.line + 1})"
        raise Unusable(f"{path}: not valid YAML{where}") from None
    if not isinstance(found, dict) or not all(isinstance(one, dict) for one in found.values()):
        raise Unusable(f"{path}: must map each name to its {', '.join(KEYS)}")
    return {str(name): words for name, words in found.items()}


def _read_private(path: Path) -> str:
    """Read a file with a secret, which no other user may be able to read."""
    from tservice.core.disk.files import FileError, read_text

    try:
        return read_text(path, private=True)
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}") from None
    except FileError as error:
        raise Unusable(f"{path.parent}: {error}") from None


def _build_address(words: Mapping[str, str], prefix: str, home: Path) -> ServiceAddress:
    found = _parse_url(words.get("url") or DEFAULT_URL, prefix)
    pin = words.get("fingerprint", "").replace(":", "")
    if pin and not _FINGERPRINT.fullmatch(pin):
        raise Unusable(f"{_display_key(prefix, 'fingerprint')} must be a SHA-256 in 64 hex digits")
    if pin and not found.tls:
        raise Unusable(f"{_display_key(prefix, 'fingerprint')} needs a URL of https")
    authorization = _build_authorization(words, prefix, home)
    return found._replace(authorization=authorization, fingerprint=bytes.fromhex(pin))


def _parse_url(url: str, prefix: str) -> ServiceAddress:
    if url.startswith("unix:"):
        path = url.removeprefix("unix:")
        if not path.startswith("/"):
            raise Unusable(f"{_display_key(prefix, 'url')} must be unix: and an absolute path")
        return ServiceAddress(host="localhost", port=80, unix=path)
    wrong = f"{_display_key(prefix, 'url')} must be http://HOST[:PORT], https://... or unix:/PATH"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise Unusable(wrong) from None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise Unusable(wrong)
    if parts.username is not None:
        raise Unusable(f"{_display_key(prefix, 'url')} must not contain a login")
    tls = parts.scheme == "https"
    usual = 443 if tls else 80
    base = parts.path.rstrip("/")
    return ServiceAddress(
        host=parts.hostname, port=usual if port is None else port, tls=tls, base=base
    )


def _build_authorization(words: Mapping[str, str], prefix: str, home: Path) -> str:
    """Return the value of the C{Authorization} header.

    A token takes precedence over user and password, and a token file over a token.
    """
    token = words.get("token", "")
    if words.get("tokenFile"):
        file = words["tokenFile"]
        path = home / file[2:] if file.startswith("~/") else Path(file)
        token = _read_private(path).strip()
        if not token:
            raise Unusable(f"{path}: is empty")
    if token:
        if not _HEADER.fullmatch(token):
            raise Unusable(f"{_display_key(prefix, 'token')} must be printable, without blanks")
        return f"Bearer {token}"
    if "password" not in words or not words["password"]:
        return ""
    login = f"{words.get('user') or DEFAULT_USER}:{words['password']}"
    return f"Basic {base64.b64encode(login.encode()).decode()}"


def _display_key(prefix: str, key: str) -> str:
    """Return the name of a setting in the form in which the user wrote it, for an error text."""
    return f"{prefix}{key.upper()}" if prefix == "TSCTL_" else f"{prefix}{key}"
