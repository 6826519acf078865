"""Parsing of the listening endpoints, and the check that none is exposed without a password."""

from __future__ import annotations

import ipaddress
import os
import socket
import stat
from pathlib import Path
from typing import Any

from attrs import field, frozen
from twisted.internet.interfaces import IStreamServerEndpoint

from tservice.core.config.model import Config
from tservice.core.kernel.errors import StartError

KINDS = ("tcp", "tcp6", "ssl", "unix")
PRIVATE_MODE = 0o600
BACKLOG = 1024
"""Number of connections that the kernel queues until they are accepted, by default.

If the queue is full, clients' first packets are dropped and sent again a second later.  Twisted's
default of 50 is lower than the number of clients that may reconnect at once.
"""
LONGEST_SOCKET_PATH = 107
"""Kernel's limit on the length of a Unix socket's path, in bytes."""


@frozen(kw_only=True)
class ListenAddress:
    """Listening endpoint as the operator wrote it, with derived properties.

    @ivar text: the description as written, for messages.
    @ivar description: the description that is passed to Twisted.
    @ivar shared: true if other machines, or other users of this machine, can connect.
    @ivar socket_path: the file of a Unix socket.  C{None} for TCP endpoints.
    """

    text: str
    description: str
    kind: str
    shared: bool
    socket_path: Path | None = None


@frozen(kw_only=True)
class _EndpointParts:
    """Endpoint description split at its colons, as Twisted splits its endpoint strings."""

    kind: str
    words: tuple[str, ...]
    named: dict[str, str] = field(factory=dict)


def parse_listen(config: Config) -> tuple[ListenAddress, ...]:
    """Parse every listening endpoint of C{config}.

    Without a password no other machine or user may be able to connect (protocol-startup).

    @raise StartError: an endpoint is invalid, or others could connect without a password.
    """
    if not config.listen:
        raise StartError("listen: must name at least one endpoint")
    addresses = tuple(_parse_address(text) for text in config.listen)
    if config.has_login or config.allow_unauthenticated_network:
        return addresses
    for address in addresses:
        if address.shared:
            raise StartError(
                f"listen: {address.text} can be reached by others and no password is set: "
                "set SERVICE_PASSWORD, or SERVICE_ALLOW_UNAUTHENTICATED_NETWORK=1"
            )
    return addresses


def make_endpoint(reactor: Any, address: ListenAddress) -> IStreamServerEndpoint:
    """Return Twisted's endpoint for C{address}; remove the socket file of a service that has died.

    @raise StartError: a parameter is wrong, the certificate is unreadable, or the socket is in use.
    """
    from twisted.internet.endpoints import serverFromString

    from tservice.core.net.alpn import AlpnReactor

    if address.kind == "ssl":
        reactor = AlpnReactor(reactor)
    if address.socket_path is not None:
        _clear_stale_socket(address.socket_path)
    try:
        endpoint: IStreamServerEndpoint = serverFromString(reactor, address.description)
        return endpoint
    except Exception as error:
        raise StartError(f"listen: {address.text}: {error or type(error).__name__}") from None


def _parse_address(text: str) -> ListenAddress:
    parts = _split_description(text)
    if parts.kind not in KINDS:
        raise StartError(f"listen: {text} must start with one of {', '.join(KINDS)}")
    if not parts.words or not parts.words[0]:
        what = "path" if parts.kind == "unix" else "port"
        raise StartError(f"listen: {text} must name a {what}")
    if parts.kind == "unix":
        return _parse_unix(text, parts)
    return _parse_tcp(text, parts)


def _parse_tcp(text: str, parts: _EndpointParts) -> ListenAddress:
    if not parts.words[0].isdecimal() or int(parts.words[0]) > 65535:
        raise StartError(f"listen: {text} must name a port from 0 to 65535")
    interface = parts.named.get("interface", parts.words[1] if len(parts.words) > 1 else "")
    shared = True
    if interface:
        try:
            shared = not ipaddress.ip_address(interface).is_loopback
        except ValueError:
            raise StartError(f"listen: {text}: interface must be an IP address") from None
    told = "backlog" in parts.named or len(parts.words) > 2
    return ListenAddress(
        text=text,
        description=text if told else f"{text}:backlog={BACKLOG}",
        kind=parts.kind,
        shared=shared,
    )


def _parse_unix(text: str, parts: _EndpointParts) -> ListenAddress:
    try:
        mode = int(parts.named.get("mode", f"{PRIVATE_MODE:o}"), 8)
    except ValueError:
        raise StartError(f"listen: {text}: mode must be octal, such as 600") from None
    path = Path(parts.words[0]).absolute()
    if len(os.fsencode(path)) > LONGEST_SOCKET_PATH:
        raise StartError(f"listen: {text}: path is longer than {LONGEST_SOCKET_PATH} bytes")
    # Twisted's lock file holds a pid, and any process with that pid counts as its owner.  After a
    # crash in a container that is this process, so the socket is checked instead.
    backlog = _escape_part(parts.named.get("backlog", str(BACKLOG)))
    description = f"unix:{_escape_part(str(path))}:mode={mode:o}:lockfile=0:backlog={backlog}"
    return ListenAddress(
        text=text,
        description=description,
        kind="unix",
        shared=bool(mode & 0o077),
        socket_path=path,
    )


def _clear_stale_socket(path: Path) -> None:
    """Remove the socket file at C{path} unless a running service accepts connections on it."""
    try:
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            raise StartError(f"listen: {path} exists and is not a socket")
    except FileNotFoundError:
        return
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
        except OSError as error:
            raise StartError(f"listen: {path}: {error.strerror or error}") from None
    raise StartError(f"listen: {path} is in use by another process")


def _split_description(text: str) -> _EndpointParts:
    """Split an endpoint description at colons; a backslash escapes the next character."""
    pieces: list[list[str]] = [[""]]
    characters = iter(text)
    for character in characters:
        if character == "\\":
            pieces[-1][-1] += next(characters, "")
        elif character == ":":
            pieces.append([""])
        elif character == "=" and len(pieces[-1]) == 1:
            pieces[-1].append("")
        else:
            pieces[-1][-1] += character
    words = tuple(piece[0] for piece in pieces if len(piece) == 1)
    named = {piece[0]: piece[1] for piece in pieces if len(piece) == 2}
    return _EndpointParts(kind=words[0] if words else "", words=words[1:], named=named)


def _escape_part(text: str) -> str:
    return text.replace("\\", "\\\\").replace(":", "\\:").replace("=", "\\=")
