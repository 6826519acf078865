"""Catalogue of the six dialects: key of the servers and format of an entry
(protocol-mcp-dialects).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import field, frozen

from tservice.clis.interfaces import McpFormat
from tservice.mcp.dialects import entries, jsoninsert, jsontext, tomltext
from tservice.mcp.dialects.faults import DialectError
from tservice.mcp.model import SERVER_LIMIT, McpServer, ServerTable, TransportKind

Document = Mapping[str, Any]
JSON = jsontext.Syntax()
WITH_COMMENTS = jsontext.Syntax(comments=True)
RELAXED = jsontext.Syntax(comments=True, trailing=True)


def _none(document: Document) -> Sequence[object]:
    return ()


def _always_on(entry: Document) -> bool:
    return False


@frozen(kw_only=True)
class Dialect:
    """Format of a CLI's configuration file, which it reads and extends as text.

    @ivar key: key of the table of servers.
    @ivar syntax: C{None}: TOML.
    @ivar decode: returns a server, or C{None} for an unknown entry.
    @ivar mute: transport kinds that it cannot express.
    @ivar says_cwd: it can express a working folder.
    @ivar is_off: returns true if an entry disables itself.
    @ivar off: returns the names that a document disables elsewhere.
    @ivar beside: files in the same folder that are read too.
    @ivar layered: these files contain servers, and the CLI merges them in that order, the file
        itself last.
    @ivar preferred: file name that is used instead, if it exists.
    """

    key: str = "mcpServers"
    syntax: jsontext.Syntax | None = JSON
    decode: Callable[[Document], McpServer | None]
    encode: Callable[[McpServer], dict[str, Any]]
    mute: frozenset[TransportKind] = field(default=frozenset())
    says_cwd: bool = False
    is_off: Callable[[Document], bool] = _always_on
    off: Callable[[Document], Sequence[object]] = _none
    beside: tuple[str, ...] = ()
    layered: bool = False
    preferred: str | None = None

    def says(self, server: McpServer) -> bool:
        """Return true if it can express C{server}."""
        return server.kind not in self.mute and (server.cwd is None or self.says_cwd)

    def read(self, text: str, beside: Sequence[str] = ()) -> ServerTable:
        """Return the servers of a file.

        @param beside: texts of the existing companion files, in order.
        @raise DialectError: a text cannot be parsed safely.
        """
        found: dict[str, Any] = {}
        off: set[str] = set()
        for one in (*beside, text):
            document = self._load(one)
            if self.layered or one is text:
                merge(found, document.get(self.key, {}))
            off.update(name for name in self.off(document) if isinstance(name, str))
        if len(found) > SERVER_LIMIT:
            raise DialectError(f"{self.key} has more than {SERVER_LIMIT} servers")
        servers: dict[str, McpServer] = {}
        for name, entry in found.items():
            server = self.decode(entry) if isinstance(entry, dict) else None
            if server is not None:
                servers[name] = server
                if self.is_off(entry):
                    off.add(name)
        return ServerTable(names=tuple(found), servers=servers, off=frozenset(off))

    def write(self, text: str | None, servers: Mapping[str, McpServer]) -> str:
        """Return C{text} with C{servers} added; all other bytes are kept.

        The result is parsed again by a different parser than the one that added to it, and
        compared.

        @param text: C{None}: there is no file.
        @param servers: servers that are not in the file, and that it can express by L{says}.
        @raise DialectError: they cannot be added safely.
        """
        before = self.empty if text is None else text
        old = self._load(before)
        added = {name: self.encode(server) for name, server in servers.items()}
        if self.syntax is None:
            after = tomltext.insert(before, self.key, added)
        else:
            after = jsoninsert.insert(before, self.key, added)
        self._compare(old, self._load(after), added)
        if {name: self.decode(entry) for name, entry in added.items()} != dict(servers):
            raise DialectError("a server would be changed by the format")
        return after

    @property
    def empty(self) -> str:
        """Text that represents a missing file."""
        return "" if self.syntax is None else "{}\n"

    def _load(self, text: str) -> dict[str, Any]:
        if self.syntax is None:
            document = tomltext.load(text)
            if not isinstance(document.get(self.key, {}), dict):
                raise DialectError(f"{self.key} is not a table")
            return document
        document = self.syntax.load(text)
        jsoninsert.find(text, self.key)
        return document

    def _compare(self, old: Document, new: dict[str, Any], added: Mapping[str, Any]) -> None:
        """Check that C{new} is C{old} with C{added}: the same values, of the same types,
        in order.
        """
        table = new.get(self.key, {})
        taken = {name: table.pop(name, None) for name in added}
        if self.key not in old and not table:
            new.pop(self.key, None)
        # Compare the texts, which distinguish 1 from true, and the order of keys.
        if (repr(new), repr(taken)) != (repr(old), repr(dict(added))):
            raise DialectError("the addition would change other contents")


def merge(under: dict[str, Any], over: Mapping[str, Any]) -> None:
    """Merge C{over} into C{under}, object by object."""
    for name, value in over.items():
        below = under.get(name)
        if isinstance(below, dict) and isinstance(value, dict):
            merge(below, value)
        else:
            under[name] = value


def _names(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()


def _gemini_off(document: Document) -> Sequence[object]:
    mcp = document.get("mcp")
    return _names(mcp.get("excluded")) if isinstance(mcp, dict) else ()


DIALECTS: Mapping[McpFormat, Dialect] = {
    McpFormat.CLAUDE: Dialect(decode=entries.read_claude, encode=entries.write_claude),
    McpFormat.GEMINI: Dialect(
        syntax=WITH_COMMENTS,
        decode=entries.read_gemini,
        encode=entries.write_gemini,
        says_cwd=True,
        off=_gemini_off,
    ),
    McpFormat.ANTIGRAVITY: Dialect(
        decode=entries.read_antigravity,
        encode=entries.write_antigravity,
        mute=frozenset({TransportKind.SSE}),
        is_off=lambda entry: entry.get("disabled") is True,
    ),
    McpFormat.OPENCODE: Dialect(
        key="mcp",
        syntax=RELAXED,
        decode=entries.read_opencode,
        encode=entries.write_opencode,
        mute=frozenset({TransportKind.SSE}),
        is_off=lambda entry: entry.get("enabled") is False,
        beside=("config.json", "opencode.json"),
        layered=True,
        preferred="opencode.jsonc",
    ),
    McpFormat.CODEX: Dialect(
        key="mcp_servers",
        syntax=None,
        decode=entries.read_codex,
        encode=entries.write_codex,
        mute=frozenset({TransportKind.SSE}),
        is_off=lambda entry: entry.get("enabled") is False,
    ),
    McpFormat.COPILOT: Dialect(
        decode=entries.read_copilot,
        encode=entries.write_copilot,
        off=lambda document: _names(document.get("disabledMcpServers")),
        beside=("settings.json",),
    ),
}
