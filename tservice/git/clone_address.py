"""Checks of clone addresses and ref names before they are passed to git (protocol-clone)."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from attrs import field, frozen

from tservice.core.kernel.errors import ErrorCode, ServiceError, make_field_error
from tservice.core.values.text import JOINERS
from tservice.git.references import is_valid_reference

REPOSITORY_LENGTH = 2048
REF_LENGTH = 255

_WEB = ("https", "http")
_SCHEMES = (*_WEB, "ssh", "git")
_PORTS = {"https": 443, "http": 80, "ssh": 22, "git": 9418}
_USER = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.+-]*")
_HOST = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?|\[[0-9A-Fa-f:.]+\]")
_SHORT = re.compile(r"(?P<user>[^@/:]+)@(?P<host>\[[^\]/]+\]|[^@/:\[\]]+):(?P<path>[^:-].*)")
_BLANK = re.compile(r"[\s\x00-\x20\x7f-\x9f\u2028\u2029]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@frozen(kw_only=True)
class CloneSource:
    """Address of a repository to clone.

    @ivar url: the address without credentials, which git receives and stores.
    @ivar username: user name that the address of a web server contained.
    @ivar local: true if the repository is on this machine.
    @ivar addresses: resolved addresses of the host; git may connect to no others.  Empty means that
        git may connect to any address.
    """

    url: str
    username: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)
    local: bool = False
    addresses: tuple[str, ...] = ()

    @property
    def web_server(self) -> str:
        """Web server for which the credentials are meant, as C{https://host:port}."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def host_and_port(self) -> tuple[str, int]:
        """Host and port of the address.  An IPv6 host is in brackets."""
        short = None if "://" in self.url else _SHORT.fullmatch(self.url)
        if short is not None:
            return short["host"], _PORTS["ssh"]
        parts = urlsplit(self.url)
        host, port = _host_of(parts.netloc), parts.port
        return host, _PORTS[parts.scheme] if port is None else port


def parse_source(text: str, *, local: bool) -> CloneSource:
    """Parse C{text} as an address from which git may clone.

    @param local: true if paths of this machine are allowed.
    @raise ServiceError: 400 for the field C{repository} if the address is not valid; 403 if it is a
        path and those are not allowed.
    """
    if not text or len(text) > REPOSITORY_LENGTH:
        raise _invalid_repository(f"must have 1 to {REPOSITORY_LENGTH} characters")
    if text.startswith("/") or text.lower().startswith("file:"):
        return _parse_local_path(text, allowed=local)
    if _BLANK.search(text):
        raise _invalid_repository("must not hold white space or control characters")
    if "://" in text:
        return _parse_url(text)
    short = _SHORT.fullmatch(text)
    if short is None or not _has_valid_host(short["user"], short["host"]):
        raise _invalid_repository("must be an https, http, ssh or git address, or user@host:path")
    return CloneSource(url=text)


def check_ref(text: str, named: str) -> str:
    """Return C{text} unchanged if it is valid as the name of a branch, tag or commit.

    @param named: the field of the request, for the error.
    @raise ServiceError: 400 for the field C{named}.
    """
    good = (
        0 < len(text) <= REF_LENGTH
        and not text.startswith("-")
        and text != "@"
        and all(each.isprintable() or each in JOINERS for each in text)
        and is_valid_reference(b"refs/heads/" + text.encode("utf-8", "replace"))
    )
    if not good:
        raise make_field_error(
            named, f"must be a name that git allows, of at most {REF_LENGTH} characters"
        )
    return text


def check_branch(text: str, named: str) -> str:
    """Return C{text} unchanged if it is valid as the name of a branch.

    @param named: the field of the request, for the error.
    @raise ServiceError: 400 for the field C{named}.
    """
    if text == "HEAD":
        raise make_field_error(named, "must not be HEAD, which is no branch")
    return check_ref(text, named)


def _parse_local_path(text: str, *, allowed: bool) -> CloneSource:
    if not allowed:
        raise ServiceError(ErrorCode.FORBIDDEN, "repository: paths of this machine are for admins")
    if _CONTROL.search(text):
        raise _invalid_repository("must not hold control characters")
    path = text
    if not text.startswith("/"):
        if not text.startswith("file:///"):
            raise _invalid_repository("a file: address must begin with file:///")
        path = unquote(text.removeprefix("file://"))
    if _CONTROL.search(path):
        raise _invalid_repository("must not hold control characters")
    return CloneSource(url=path, local=True)


def _parse_url(text: str) -> CloneSource:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise _invalid_repository("must be a valid address") from None
    if parts.scheme not in _SCHEMES:
        raise _invalid_repository("must be an https, http, ssh or git address, or user@host:path")
    host = _host_of(parts.netloc)
    if _HOST.fullmatch(host) is None:
        raise _invalid_repository("must name a host")
    if parts.path in ("", "/") or parts.path.startswith("/-") or parts.fragment:
        raise _invalid_repository("must name a path on the host, without a #")
    if _CONTROL.search(unquote(text)):
        raise _invalid_repository("must not hold control characters, nor escapes of them")
    at = host if port is None else f"{host}:{port}"
    rest = parts.path + (f"?{parts.query}" if parts.query else "")
    if parts.scheme in _WEB:
        username, password = (
            None if found is None else unquote(found) for found in (parts.username, parts.password)
        )
        if password is not None and "_" in host:
            # Git rejects an underscore in the host of a setting for one address.
            raise _invalid_repository(
                "must not hold a password for a host with an underscore: use its IP address"
            )
        url = f"{parts.scheme}://{at}{rest}"
        return CloneSource(url=url, username=username or None, password=password)
    return CloneSource(
        url=f"{parts.scheme}://{_parse_ssh_user(parts.scheme, parts.netloc)}{at}{rest}"
    )


def _host_of(netloc: str) -> str:
    authority = netloc.rpartition("@")[2]
    return authority.partition("]")[0] + "]" if authority[:1] == "[" else authority.split(":")[0]


def _parse_ssh_user(scheme: str, netloc: str) -> str:
    """Return the user name in an ssh address.  A password in the address is refused."""
    user, sign, _ = netloc.rpartition("@")
    if not sign:
        return ""
    if scheme != "ssh" or _USER.fullmatch(user) is None:
        raise _invalid_repository(
            f"must not hold a user or password like this in a {scheme} address"
        )
    return f"{user}@"


def _has_valid_host(user: str, host: str) -> bool:
    return _USER.fullmatch(user) is not None and _HOST.fullmatch(host) is not None


def _invalid_repository(rule: str) -> ServiceError:
    return make_field_error("repository", rule)
