"""Definitions of the six configuration formats: the key of the servers, and the format of an entry
(protocol-mcp-dialects).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import field, frozen

from tservice.clis.interfaces import McpFormat
from tservice.mcp.dialects import json_insertion, json_parsing, server_entries, toml_text
from tservice.mcp.dialects.errors import DialectError
from tservice.mcp.model import SERVER_LIMIT, McpServer, McpTransportKind, ServerTable

Document = Mapping[str, Any]
JSON = json_parsing.JsonSyntax()
WITH_COMMENTS = json_parsing.JsonSyntax(comments=True)
RELAXED = json_parsing.JsonSyntax(comments=True, trailing=True)


def _no_names(document: Document) -> Sequence[object]:
    return ()


def _ignore_disabled_state(entry: Document) -> bool:
    return False


@frozen(kw_only=True)
class ConfigDialect:
    """Format of a CLI's configuration file. It parses such a file, and adds servers to its text.

    @ivar key: key of the table that contains the servers.
    @ivar syntax: JSON syntax of the file; C{None} for TOML.
    @ivar decode: converts an entry to a server; returns C{None} for an entry of unknown form.
    @ivar encode: converts a server to an entry.
    @ivar unsupported_kinds: kinds of transport that an entry cannot express.
    @ivar supports_cwd: true if an entry can contain a working folder.
    @ivar is_disabled: returns true if an entry is marked as disabled.
    @ivar disabled_names: returns the names of servers that another part of a document disables.
    @ivar companion_files: names of files in the same folder that the CLI reads too.
    @ivar layered: true if the companion files contain servers. The CLI merges them in the given
        order, and the main file last.
    @ivar preferred: name of a file that is used instead of the main file if it exists.
    """

    key: str = "mcpServers"
    syntax: json_parsing.JsonSyntax | None = JSON
    decode: Callable[[Document], McpServer | None]
    encode: Callable[[McpServer], dict[str, Any]]
    unsupported_kinds: frozenset[McpTransportKind] = field(default=frozenset())
    supports_cwd: bool = False
    is_disabled: Callable[[Document], bool] = _ignore_disabled_state
    disabled_names: Callable[[Document], Sequence[object]] = _no_names
    companion_files: tuple[str, ...] = ()
    layered: bool = False
    preferred: str | None = None

    def can_express(self, server: McpServer) -> bool:
        """Return true if an entry of this format can express C{server}."""
        return server.kind not in self.unsupported_kinds and (
            server.cwd is None or self.supports_cwd
        )

    def parse_table(self, text: str, companions: Sequence[str] = ()) -> ServerTable:
        """Parse a configuration file, and return its servers.

        @param text: contents of the file.
        @param companions: contents of the existing companion files, in order.
        @raise DialectError: a file cannot be parsed safely.
        """
        found: dict[str, Any] = {}
        off: set[str] = set()
        for one in (*companions, text):
            document = self._parse_document(one)
            if self.layered or one is text:
                merge_objects(found, document.get(self.key, {}))
            off.update(name for name in self.disabled_names(document) if isinstance(name, str))
        if len(found) > SERVER_LIMIT:
            raise DialectError(f"{self.key} has more than {SERVER_LIMIT} servers")
        servers: dict[str, McpServer] = {}
        for name, entry in found.items():
            server = self.decode(entry) if isinstance(entry, dict) else None
            if server is not None:
                servers[name] = server
                if self.is_disabled(entry):
                    off.add(name)
        return ServerTable(names=tuple(found), servers=servers, disabled=frozenset(off))

    def add_servers(self, text: str | None, servers: Mapping[str, McpServer]) -> str:
        """Return C{text} with C{servers} added. All existing bytes are kept.

        The result is checked with a parser other than the code that added the servers.

        @param text: contents of the file, or C{None} if there is no file.
        @param servers: servers that are not in the file and for which L{can_express} is true.
        @raise DialectError: the servers cannot be added safely.
        """
        before = self.empty_text if text is None else text
        old = self._parse_document(before)
        added = {name: self.encode(server) for name, server in servers.items()}
        if self.syntax is None:
            from tservice.mcp.dialects.toml_insertion import insert_entries  # tomlkit, 1 MB

            after = insert_entries(before, self.key, added)
        else:
            after = json_insertion.insert_entries(before, self.key, added)
        self._check_only_added(old, self._parse_document(after), added)
        if {name: self.decode(entry) for name, entry in added.items()} != dict(servers):
            raise DialectError("a server would be changed by the format")
        return after

    @property
    def empty_text(self) -> str:
        """Contents to start from if the file does not exist."""
        return "" if self.syntax is None else "{}\n"

    def _parse_document(self, text: str) -> dict[str, Any]:
        if self.syntax is None:
            document = toml_text.parse_document(text)
            if not isinstance(document.get(self.key, {}), dict):
                raise DialectError(f"{self.key} is not a table")
            return document
        document = self.syntax.parse_object(text)
        json_insertion.find_object(text, self.key)
        return document

    def _check_only_added(
        self, old: Document, new: dict[str, Any], added: Mapping[str, Any]
    ) -> None:
        """Check that C{new} equals C{old} plus C{added}, with the same values, types and order.

        @raise DialectError: the documents differ otherwise.
        """
        table = new.get(self.key, {})
        taken = {name: table.pop(name, None) for name in added}
        if self.key not in old and not table:
            new.pop(self.key, None)
        # Compare the texts, which distinguish 1 from true, and the order of keys.
        if (repr(new), repr(taken)) != (repr(old), repr(dict(added))):
            raise DialectError("the addition would change other contents")


def merge_objects(under: dict[str, Any], over: Mapping[str, Any]) -> None:
    """Merge C{over} into C{under}. Nested objects are merged key by key."""
    for name, value in over.items():
        below = under.get(name)
        if isinstance(below, dict) and isinstance(value, dict):
            merge_objects(below, value)
        else:
            under[name] = value


def _list_or_empty(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()


def _gemini_disabled(document: Document) -> Sequence[object]:
    mcp = document.get("mcp")
    return _list_or_empty(mcp.get("excluded")) if isinstance(mcp, dict) else ()


DIALECTS: Mapping[McpFormat, ConfigDialect] = {
    McpFormat.CLAUDE: ConfigDialect(
        decode=server_entries.decode_claude, encode=server_entries.encode_claude
    ),
    McpFormat.GEMINI: ConfigDialect(
        syntax=WITH_COMMENTS,
        decode=server_entries.decode_gemini,
        encode=server_entries.encode_gemini,
        supports_cwd=True,
        disabled_names=_gemini_disabled,
    ),
    McpFormat.ANTIGRAVITY: ConfigDialect(
        decode=server_entries.decode_antigravity,
        encode=server_entries.encode_antigravity,
        unsupported_kinds=frozenset({McpTransportKind.SSE}),
        is_disabled=lambda entry: entry.get("disabled") is True,
    ),
    McpFormat.OPENCODE: ConfigDialect(
        key="mcp",
        syntax=RELAXED,
        decode=server_entries.decode_opencode,
        encode=server_entries.encode_opencode,
        unsupported_kinds=frozenset({McpTransportKind.SSE}),
        is_disabled=lambda entry: entry.get("enabled") is False,
        companion_files=("config.json", "opencode.json"),
        layered=True,
        preferred="opencode.jsonc",
    ),
    McpFormat.CODEX: ConfigDialect(
        key="mcp_servers",
        syntax=None,
        decode=server_entries.decode_codex,
        encode=server_entries.encode_codex,
        unsupported_kinds=frozenset({McpTransportKind.SSE}),
        is_disabled=lambda entry: entry.get("enabled") is False,
    ),
    McpFormat.COPILOT: ConfigDialect(
        decode=server_entries.decode_copilot,
        encode=server_entries.encode_copilot,
        disabled_names=lambda document: _list_or_empty(document.get("disabledMcpServers")),
        companion_files=("settings.json",),
    ),
}
