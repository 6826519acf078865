"""Records of MCP servers, and the computation of the servers that a CLI lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum

from attrs import field, frozen

LONGEST_NAME = 128
SERVER_LIMIT = 1000
"""Maximum number of servers in a file. A file maintained by a person has fewer."""


class McpTransportKind(StrEnum):
    """Transport of a server."""

    STDIO = "stdio"
    HTTP = "http"
    SSE = "sse"


class TargetStatus(StrEnum):
    """Result of reading or writing one configuration file (protocol-mcp-sync)."""

    OK = "ok"
    ABSENT = "absent"
    SKIPPED = "skipped"
    UNREADABLE = "unreadable"
    FAILED = "failed"


@frozen(kw_only=True)
class McpServer:
    """Definition of an MCP server. It may contain secrets, so it is never shown.

    @ivar command: program of a server with the transport L{McpTransportKind.STDIO}, with C{args},
        C{env} and C{cwd}.
    @ivar url: URL of a server with another transport, with C{headers}.
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
        """Values to compare. Two definitions with the same name conflict if these values differ
        (protocol-mcp-dialects).
        """
        return (self.kind, self.command, self.args, self.url)

    @property
    def needs_private_file(self) -> bool:
        """True if only the owner may be able to read a file with this server."""
        return bool(self.env or self.headers)

    @property
    def is_portable(self) -> bool:
        """True if every format can express the server's texts, because they contain no lone
        surrogates.
        """
        words = (
            *(self.command, self.url, self.cwd or "", *self.args),
            *(self.env.keys(), self.env.values(), self.headers.keys(), self.headers.values()),
        )
        texts = [text for word in words for text in ([word] if isinstance(word, str) else word)]
        return all(is_encodable(text) for text in texts)


@frozen(kw_only=True)
class ServerTable:
    """Servers in the configuration of one CLI.

    @ivar names: every name in the file in order, even if its definition has an unknown form.
    @ivar servers: servers with a known form, by name.
    @ivar disabled: names of servers that the CLI's own settings disable.
    """

    names: tuple[str, ...] = ()
    servers: Mapping[str, McpServer] = field(factory=dict)
    disabled: frozenset[str] = frozenset()


@frozen(kw_only=True)
class SharedServers:
    """Servers of all CLIs that can be copied to other CLIs.

    @ivar servers: servers by name. If several CLIs define a name, the definition of the first CLI.
    @ivar conflicts: names that CLIs define differently.
    @ivar disabled: names that are disabled in every CLI that defines them.
    """

    servers: Mapping[str, McpServer]
    conflicts: tuple[str, ...]
    disabled: tuple[str, ...]


@frozen(kw_only=True)
class MissingServers:
    """Servers that the configuration of one CLI lacks.

    @ivar servers: servers to add, by name.
    @ivar skipped: names of servers that the CLI's format cannot express.
    """

    servers: Mapping[str, McpServer]
    skipped: tuple[str, ...]


def collect_shared_servers(tables: Iterable[ServerTable]) -> SharedServers:
    """Collect the servers of all CLIs. If definitions conflict, the first table in C{tables}
    wins.
    """
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


def find_missing_servers(
    offer: Mapping[str, McpServer], names: Sequence[str], says: Callable[[McpServer], bool]
) -> MissingServers:
    """Return the servers to add to the configuration of one CLI.

    @param offer: servers of all CLIs by name.
    @param names: names that the configuration contains already.
    @param says: returns true if the CLI's format can express a server.
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
    """Return true if every parser accepts C{word} as the name of a server."""
    return 0 < len(word) <= LONGEST_NAME and word.isprintable() and word != "__proto__"
