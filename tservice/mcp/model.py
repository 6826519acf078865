"""Records of MCP servers, and the computation of missing ones.  Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum

from attrs import field, frozen

LONGEST_NAME = 128
SERVER_LIMIT = 1000
"""Limit of servers in a file; more are no configuration kept by a person."""


class McpTransportKind(StrEnum):
    """Transport of a server."""

    STDIO = "stdio"
    HTTP = "http"
    SSE = "sse"


class TargetStatus(StrEnum):
    """Result for a target (protocol-mcp-sync)."""

    OK = "ok"
    ABSENT = "absent"
    SKIPPED = "skipped"
    UNREADABLE = "unreadable"
    FAILED = "failed"


@frozen(kw_only=True)
class McpServer:
    """Definition of a server; it may contain secrets, so it is never shown.

    @ivar command: for L{McpTransportKind.STDIO}, with C{args}, C{env} and C{cwd}.
    @ivar url: for the other kinds, with C{headers}.
    """

    kind: McpTransportKind
    command: str = field(default="", repr=False)
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(factory=dict, repr=False)
    cwd: str | None = field(default=None, repr=False)
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(factory=dict, repr=False)

    @property
    def comparison_key(self) -> tuple[object, ...]:
        """Values that differ if two definitions of a name are in conflict
        (protocol-mcp-dialects).
        """
        return (self.kind, self.command, self.args, self.url)

    @property
    def needs_private_file(self) -> bool:
        """True if other users must not read its file."""
        return bool(self.env or self.headers)

    @property
    def is_portable(self) -> bool:
        """True if every format can express its texts: they have no lone surrogates."""
        words = (
            *(self.command, self.url, self.cwd or "", *self.args),
            *(self.env.keys(), self.env.values(), self.headers.keys(), self.headers.values()),
        )
        texts = [text for word in words for text in ([word] if isinstance(word, str) else word)]
        return all(is_encodable(text) for text in texts)


@frozen(kw_only=True)
class ServerTable:
    """Servers of one CLI.

    @ivar names: every name in the file, of any shape, in order.
    @ivar servers: the recognized definitions by name.
    @ivar off: names that are disabled in the CLI's own settings.
    """

    names: tuple[str, ...] = ()
    servers: Mapping[str, McpServer] = field(factory=dict)
    disabled: frozenset[str] = frozenset()


@frozen(kw_only=True)
class SharedServers:
    """Servers that can be shared.

    @ivar servers: by name; of several definitions that of the first CLI.
    @ivar conflicts: names that CLIs define differently.
    @ivar disabled: names that are disabled in every definition.
    """

    servers: Mapping[str, McpServer]
    conflicts: tuple[str, ...]
    disabled: tuple[str, ...]


@frozen(kw_only=True)
class MissingServers:
    """Servers that one CLI lacks.

    @ivar servers: servers to add.
    @ivar skipped: names that its dialect cannot express.
    """

    servers: Mapping[str, McpServer]
    skipped: tuple[str, ...]


def collect_shared(tables: Iterable[ServerTable]) -> SharedServers:
    """Return the servers of all CLIs; the order of C{tables} decides which definition wins."""
    servers: dict[str, McpServer] = {}
    first: dict[str, McpServer] = {}
    conflicts: dict[str, None] = {}
    for table in tables:
        for name, server in table.servers.items():
            if first.setdefault(name, server).comparison_key != server.comparison_key:
                conflicts[name] = None
            if name not in table.disabled:
                servers.setdefault(name, server)
    disabled = tuple(name for name in first if name not in servers)
    return SharedServers(servers=servers, conflicts=tuple(conflicts), disabled=disabled)


def find_missing(
    offer: Mapping[str, McpServer], names: Sequence[str], says: Callable[[McpServer], bool]
) -> MissingServers:
    """Return the servers to add to a CLI that has C{names}.

    @param says: returns true if its dialect can express a server.
    """
    there = frozenset(names)
    servers: dict[str, McpServer] = {}
    skipped: list[str] = []
    for name, server in offer.items():
        if name in there:
            continue
        if is_safe_name(name) and server.is_portable and says(server):
            servers[name] = server
        else:
            skipped.append(name)
    return MissingServers(servers=servers, skipped=tuple(skipped))


def is_encodable(word: str) -> bool:
    """Return true if C{word} can be encoded as UTF-8."""
    try:
        word.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_safe_name(word: str) -> bool:
    """Return true if C{word} is a valid server name for every parser."""
    return 0 < len(word) <= LONGEST_NAME and word.isprintable() and word != "__proto__"
