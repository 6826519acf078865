"""MCP servers, and which of them each CLI lacks.  Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum

from attrs import field, frozen

LONGEST_NAME = 128
SERVER_LIMIT = 1000
"""Servers that a file may have: more are no configuration that a person keeps."""


class TransportKind(StrEnum):
    """How a server is reached."""

    STDIO = "stdio"
    HTTP = "http"
    SSE = "sse"


class TargetStatus(StrEnum):
    """What became of a target (protocol-mcp-sync)."""

    OK = "ok"
    ABSENT = "absent"
    SKIPPED = "skipped"
    UNREADABLE = "unreadable"
    FAILED = "failed"


@frozen(kw_only=True)
class McpServer:
    """One server's definition; what it holds may be secret, so it is never shown.

    @ivar command: of L{TransportKind.STDIO}, with C{args}, C{env} and C{cwd}.
    @ivar url: of the others, with C{headers}.
    """

    kind: TransportKind
    command: str = field(default="", repr=False)
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(factory=dict, repr=False)
    cwd: str | None = field(default=None, repr=False)
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(factory=dict, repr=False)

    @property
    def identity(self) -> tuple[object, ...]:
        """What must differ for two definitions of a name to be in conflict
        (protocol-mcp-dialects)."""
        return (self.kind, self.command, self.args, self.url)

    @property
    def private(self) -> bool:
        """Whether its file must be closed to others."""
        return bool(self.env or self.headers)

    @property
    def portable(self) -> bool:
        """Whether every format can hold its words: no half of a character stands alone."""
        words = (
            *(self.command, self.url, self.cwd or "", *self.args),
            *(self.env.keys(), self.env.values(), self.headers.keys(), self.headers.values()),
        )
        texts = [text for word in words for text in ([word] if isinstance(word, str) else word)]
        return all(is_text(text) for text in texts)


@frozen(kw_only=True)
class ServerTable:
    """The servers of one CLI.

    @ivar names: every name that is there, in any shape, in order.
    @ivar servers: the definitions that were understood, by name.
    @ivar off: names that are switched off in the CLI's own settings.
    """

    names: tuple[str, ...] = ()
    servers: Mapping[str, McpServer] = field(factory=dict)
    off: frozenset[str] = frozenset()


@frozen(kw_only=True)
class SharedServers:
    """What there is to share.

    @ivar servers: by name; of several definitions that of the first CLI.
    @ivar conflicts: names that CLIs define differently.
    @ivar disabled: names whose every definition is switched off.
    """

    servers: Mapping[str, McpServer]
    conflicts: tuple[str, ...]
    disabled: tuple[str, ...]


@frozen(kw_only=True)
class Lack:
    """What one CLI has not.

    @ivar servers: to be added.
    @ivar skipped: names that its dialect cannot express.
    """

    servers: Mapping[str, McpServer]
    skipped: tuple[str, ...]


def gather(tables: Iterable[ServerTable]) -> SharedServers:
    """What the CLIs have between them; the order of C{tables} decides which definition wins."""
    servers: dict[str, McpServer] = {}
    first: dict[str, McpServer] = {}
    conflicts: dict[str, None] = {}
    for table in tables:
        for name, server in table.servers.items():
            if first.setdefault(name, server).identity != server.identity:
                conflicts[name] = None
            if name not in table.off:
                servers.setdefault(name, server)
    disabled = tuple(name for name in first if name not in servers)
    return SharedServers(servers=servers, conflicts=tuple(conflicts), disabled=disabled)


def lacking(
    offer: Mapping[str, McpServer], names: Sequence[str], says: Callable[[McpServer], bool]
) -> Lack:
    """What is to be added to a CLI that has C{names}.

    @param says: whether its dialect can express a server.
    """
    there = frozenset(names)
    servers: dict[str, McpServer] = {}
    skipped: list[str] = []
    for name, server in offer.items():
        if name in there:
            continue
        if is_name(name) and server.portable and says(server):
            servers[name] = server
        else:
            skipped.append(name)
    return Lack(servers=servers, skipped=tuple(skipped))


def is_text(word: str) -> bool:
    """Whether C{word} can be written as UTF-8."""
    try:
        word.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_name(word: str) -> bool:
    """Whether C{word} is a name to carry into other files: one that every reader takes for one."""
    return 0 < len(word) <= LONGEST_NAME and word.isprintable() and word != "__proto__"
