"""The six dialects, by example."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from textwrap import dedent
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tservice.clis.interfaces import McpFormat
from tservice.mcp.dialects.catalogue import DIALECTS
from tservice.mcp.dialects.errors import DialectError
from tservice.mcp.model import SERVER_LIMIT, McpServer, McpTransportKind

CLAUDE, GEMINI, ANTIGRAVITY, OPENCODE, CODEX, COPILOT = (
    DIALECTS[name]
    for name in (
        McpFormat.CLAUDE,
        McpFormat.GEMINI,
        McpFormat.ANTIGRAVITY,
        McpFormat.OPENCODE,
        McpFormat.CODEX,
        McpFormat.COPILOT,
    )
)
PLAIN = McpServer(kind=McpTransportKind.STDIO, command="run", args=("-a", "b c"))
KEYED = McpServer(kind=McpTransportKind.STDIO, command="run", env={"K": "V"})
THERE = McpServer(kind=McpTransportKind.STDIO, command="run", cwd="/srv")
HTTP = McpServer(kind=McpTransportKind.HTTP, url="http://h/mcp", headers={"X-A": "1"})
SSE = McpServer(kind=McpTransportKind.SSE, url="http://h/sse")

URL = {"url": "http://h/mcp"}
RUN = {"command": "run", "args": ["-a", "b c"]}

WRITTEN: Mapping[McpFormat, list[tuple[McpServer, dict[str, Any]]]] = {
    McpFormat.CLAUDE: [
        (PLAIN, {"type": "stdio", **RUN, "env": {}}),
        (KEYED, {"type": "stdio", "command": "run", "args": [], "env": {"K": "V"}}),
        (HTTP, {"type": "http", **URL, "headers": {"X-A": "1"}}),
        (SSE, {"type": "sse", "url": "http://h/sse", "headers": {}}),
    ],
    McpFormat.GEMINI: [
        (PLAIN, RUN),
        (KEYED, {"command": "run", "args": [], "env": {"K": "V"}}),
        (THERE, {"command": "run", "args": [], "cwd": "/srv"}),
        (HTTP, {**URL, "type": "http", "headers": {"X-A": "1"}}),
        (SSE, {"url": "http://h/sse", "type": "sse"}),
    ],
    McpFormat.ANTIGRAVITY: [
        (PLAIN, {**RUN, "disabled": False}),
        (HTTP, {"serverUrl": "http://h/mcp", "headers": {"X-A": "1"}, "disabled": False}),
    ],
    McpFormat.OPENCODE: [
        (PLAIN, {"type": "local", "command": ["run", "-a", "b c"], "enabled": True}),
        (
            KEYED,
            {"type": "local", "command": ["run"], "environment": {"K": "V"}, "enabled": True},
        ),
        (HTTP, {"type": "remote", **URL, "headers": {"X-A": "1"}, "enabled": True}),
    ],
    McpFormat.CODEX: [
        (PLAIN, RUN),
        (KEYED, {"command": "run", "args": [], "env": {"K": "V"}}),
        (HTTP, {**URL, "http_headers": {"X-A": "1"}}),
    ],
    McpFormat.COPILOT: [
        (PLAIN, {"tools": ["*"], "type": "local", **RUN}),
        (HTTP, {"tools": ["*"], "type": "http", **URL, "headers": {"X-A": "1"}}),
        (SSE, {"tools": ["*"], "type": "sse", "url": "http://h/sse"}),
    ],
}


class DialectShapeTests(SynchronousTestCase):
    def test_servers_are_written_in_the_form_of_each_cli(self) -> None:
        for name, cases in WRITTEN.items():
            dialect = DIALECTS[name]
            for server, entry in cases:
                text = dialect.add_servers(None, {"new": server})
                data = tomllib.loads(text) if name is McpFormat.CODEX else json.loads(text)
                self.assertEqual({dialect.key: {"new": entry}}, data, name)
                self.assertEqual({"new": server}, dialect.parse_table(text).servers)

    def test_each_cli_supports_its_server_types(self) -> None:
        said = {
            name: [dialect.can_express(server) for server in (PLAIN, HTTP, SSE, THERE)]
            for name, dialect in DIALECTS.items()
        }
        self.assertEqual(
            {
                McpFormat.CLAUDE: [True, True, True, False],
                McpFormat.GEMINI: [True, True, True, True],
                McpFormat.ANTIGRAVITY: [True, True, False, False],
                McpFormat.OPENCODE: [True, True, False, False],
                McpFormat.CODEX: [True, True, False, False],
                McpFormat.COPILOT: [True, True, True, False],
            },
            said,
        )

    def test_alternative_forms_are_read(self) -> None:
        plain = McpServer(kind=McpTransportKind.STDIO, command="run")
        web = McpServer(kind=McpTransportKind.HTTP, url="http://h/mcp")
        for dialect, entry, server in (
            (CLAUDE, {"command": "run"}, plain),
            (CLAUDE, {"type": "streamable-http", **URL}, web),
            (GEMINI, {"httpUrl": "http://h/mcp", "timeout": 5}, web),
            (GEMINI, URL, web),
            (GEMINI, {"httpUrl": "http://h/mcp", "url": "http://h/sse"}, web),
            (COPILOT, {"command": "run", "type": "stdio", "tools": []}, plain),
            (OPENCODE, {"type": "local", "command": ["run"], "environment": {}}, plain),
        ):
            text = json.dumps({dialect.key: {"x": entry}})
            self.assertEqual({"x": server}, dialect.parse_table(text).servers, entry)

    def test_unknown_server_form_is_listed_by_name(self) -> None:
        for dialect, entry in (
            (CLAUDE, None),
            (CLAUDE, []),
            (CLAUDE, {}),
            (CLAUDE, {"type": "ws", **URL}),
            (CLAUDE, {"type": ["http"], **URL}),
            (CLAUDE, {"command": ""}),
            (CLAUDE, {"command": "x", "args": "-a"}),
            (CLAUDE, {"command": "x", "args": [1]}),
            (CLAUDE, {"command": "x", "env": {"A": 1}}),
            (CLAUDE, {"command": "x", "env": None}),
            (CLAUDE, {"command": "x", "cwd": 5}),
            (GEMINI, {"command": "x", **URL}),
            (GEMINI, {"url": ""}),
            (ANTIGRAVITY, {"command": "x", "serverUrl": "http://h"}),
            (OPENCODE, {"enabled": False}),
            (OPENCODE, {"type": "local", "command": []}),
            (OPENCODE, {"type": "local", "command": "x"}),
            (OPENCODE, {"type": "remote", "url": "http://h", "headers": []}),
            (COPILOT, {"type": {}, "command": "x"}),
        ):
            text = json.dumps({dialect.key: {"x": entry}})
            found = dialect.parse_table(text)
            self.assertEqual((("x",), {}), (found.names, found.servers), entry)
        found = CODEX.parse_table('[mcp_servers]\na = 1\nb = {command = "x", url = "http://h"}\n')
        self.assertEqual((("a", "b"), {}), (found.names, found.servers))

    def test_disabled_servers_are_read(self) -> None:
        for dialect, off, on in (
            (ANTIGRAVITY, {"command": "x", "disabled": True}, {"command": "x", "disabled": False}),
            (
                OPENCODE,
                {"type": "remote", **URL, "enabled": False},
                {"type": "remote", **URL, "enabled": True},
            ),
        ):
            text = json.dumps({dialect.key: {"off": off, "on": on, "silent": {**on}}})
            self.assertEqual({"off"}, dialect.parse_table(text).disabled)
        text = (
            '[mcp_servers.off]\ncommand = "x"\nenabled = false\n[mcp_servers.on]\ncommand = "x"\n'
        )
        self.assertEqual({"off"}, CODEX.parse_table(text).disabled)
        entry = {"mcpServers": {"off": {"command": "x"}}, "mcp": {"excluded": ["off", 5]}}
        self.assertEqual({"off"}, GEMINI.parse_table(json.dumps(entry)).disabled)
        self.assertEqual(frozenset(), GEMINI.parse_table('{"mcp": []}').disabled)

    def test_copilot_disabled_servers_are_in_another_file(self) -> None:
        beside = '{"disabledMcpServers": ["x"], "mcpServers": {"none of its": {}}}'
        found = COPILOT.parse_table('{"mcpServers": {"x": {"command": "x"}}}', [beside])
        self.assertEqual((("x",), {"x"}), (found.names, found.disabled))

    def test_opencode_configuration_files_are_merged(self) -> None:
        under = '{"mcp": {"a": {"type": "local", "command": ["x"]}, "b": {}}}'
        found = OPENCODE.parse_table('{"mcp": {"a": {"enabled": false}, "c": null}}', [under])
        self.assertEqual(("a", "b", "c"), found.names)
        self.assertEqual("x", found.servers["a"].command)
        self.assertEqual({"a"}, found.disabled)


class DialectFaultTests(SynchronousTestCase):
    """Positions and rules, never content."""

    def fault(self, dialect: Any, text: str) -> str:
        return str(self.assertRaises(DialectError, dialect.parse_table, text))

    def test_json_fault_gives_its_position(self) -> None:
        for text, fault in (
            ("", "not valid JSON (line 1, column 1)"),
            ('{\n  "k": s3cr3t\n}', "not valid JSON (line 2, column 8)"),
            ('{"s3cr3t": NaN}', "not valid JSON"),
            ("[" * 100_000, "not valid JSON"),
            ('{"a": ' + "9" * 5000 + "}", "not valid JSON"),
            ('["s3cr3t"]', "not a JSON object"),
            ('{"mcpServers": "s3cr3t"}', "mcpServers is not an object"),
            ('{"mcpServers": null}', "mcpServers is not an object"),
            ('{"mcpServers": {}, "mcp\\u0053ervers": {}}', "mcpServers occurs more than once"),
            ('{"a": 1} // no', "not valid JSON (line 1, column 10)"),
            ('{"a": 1,}', "not valid JSON (line 1, column 9)"),
        ):
            self.assertEqual(fault, self.fault(CLAUDE, text))

    def test_comments_are_accepted_where_the_cli_reads_them(self) -> None:
        self.assertEqual((), GEMINI.parse_table('// a\n{/* b */ "a": "//"}').names)
        self.fault(GEMINI, '{"a": 1,}')
        self.assertEqual((), OPENCODE.parse_table('{"a": [1, /* c */ ], // d\n}').names)
        for text in ("{,}", '{"a": [,]}', '{"a": 1,,}', '{"a": 1} /* no end', '{"a":,}'):
            self.fault(OPENCODE, text)

    def test_toml_fault_gives_its_position(self) -> None:
        for text, fault in (
            ('a = 1\nb = 2\nsome_long_key = = 5"', "not valid TOML (line 3, column 17)"),
            ('a = "s3cr3t', "not valid TOML (line 1, column 12)"),
            ("mcp_servers = 5", "mcp_servers is not a table"),
            ("[[mcp_servers]]\n", "mcp_servers is not a table"),
            ("a = " + "[" * 100_000, "not valid TOML"),
            # So much of it takes a parser days.
            ("[" + ".".join("a" * 20_000) + "]\n" + "k = 1\n" * 20_000, "not valid TOML"),
        ):
            self.assertEqual(fault, self.fault(CODEX, text))

    def test_too_many_servers_are_a_fault(self) -> None:
        servers = {str(number): None for number in range(SERVER_LIMIT + 1)}
        self.assertEqual(
            "mcpServers has more than 1000 servers",
            self.fault(CLAUDE, json.dumps({"mcpServers": servers})),
        )


class DialectLayoutTests(SynchronousTestCase):
    """Additions look like what is there."""

    def added(self, dialect: Any, before: str, after: str) -> None:
        server = McpServer(kind=McpTransportKind.STDIO, command="run")
        self.assertEqual(dedent(after), dialect.add_servers(dedent(before), {"new": server}))

    def test_addition_follows_the_last_server_and_its_comment(self) -> None:
        before = """\
            {
                // servers
                "mcp": {
                    "old": {} // mine
                    // the end
                },
                "theme": "x"
            }
            """
        after = """\
            {
                // servers
                "mcp": {
                    "old": {}, // mine
                    // the end
                    "new": {
                        "type": "local",
                        "command": [
                            "run"
                        ],
                        "enabled": true
                    }
                },
                "theme": "x"
            }
            """
        self.added(OPENCODE, before, after)

    def test_existing_trailing_comma_is_reused(self) -> None:
        before = '{\n\t"mcp": {\n\t\t"old": {},\n\t}\n}'
        after = OPENCODE.add_servers(before, {"new": PLAIN})
        self.assertTrue(
            after.startswith('{\n\t"mcp": {\n\t\t"old": {},\n\t\t"new": {\n\t\t\t"type"')
        )

    def test_addition_to_a_one_line_object_stays_on_one_line(self) -> None:
        self.assertEqual(
            '{"a": 1, "mcpServers": {"o": {}, "new": {"command": "run", "args": []}}}',
            GEMINI.add_servers(
                '{"a": 1, "mcpServers": {"o": {}}}',
                {"new": McpServer(kind=McpTransportKind.STDIO, command="run")},
            ),
        )

    def test_empty_table_gets_the_addition(self) -> None:
        before = """\
            {
              "mcpServers": {},
              "b": 1
            }
            """
        after = """\
            {
              "mcpServers": {
                "new": {
                  "command": "run",
                  "args": []
                }
              },
              "b": 1
            }
            """
        self.added(GEMINI, before, after)

    def test_missing_table_is_added(self) -> None:
        before = '{\r\n  "b": 1\r\n}\r\n'
        after = GEMINI.add_servers(before, {"new": PLAIN})
        self.assertTrue(after.startswith('{\r\n  "b": 1,\r\n  "mcpServers": {\r\n    "new": {\r\n'))
        self.assertEqual(after.count("\n"), after.count("\r\n"))

    def test_no_break_space_in_a_comment_stays_in_the_comment(self) -> None:
        """At the end of a comment, where it belongs to the comment."""
        before = '{\n  "mcp": {\n    "old": {} // mine\u00a0\n  }\n}'
        after = OPENCODE.add_servers(before, {"new": PLAIN})
        self.assertIn("// mine\u00a0\n", after)

    def test_toml_tables_are_appended(self) -> None:
        before = """\
            model = "x"  # mine

            [mcp_servers.old]
            command = "o"

            [tui]
            theme = 'dark'"""
        after = (
            before
            + """

            [mcp_servers.new]
            command = "run"
            args = []
            """
        )
        self.added(CODEX, before, after)

    def test_inline_toml_table_gets_the_addition(self) -> None:
        self.added(
            CODEX,
            'mcp_servers = {old = {command = "o"}} # mine\nmodel = "x"\n',
            'mcp_servers = {old = {command = "o"}, new = {command = "run", args = []}} # mine\n'
            'model = "x"\n',
        )
