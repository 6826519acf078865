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


class ShapeTests(SynchronousTestCase):
    def test_written_as_each_cli_has_it(self) -> None:
        for name, cases in WRITTEN.items():
            dialect = DIALECTS[name]
            for server, entry in cases:
                text = dialect.add_servers(None, {"new": server})
                data = tomllib.loads(text) if name is McpFormat.CODEX else json.loads(text)
                self.assertEqual({dialect.key: {"new": entry}}, data, name)
                self.assertEqual({"new": server}, dialect.parse_table(text).servers)

    def test_what_each_cannot_say(self) -> None:
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

    def test_read_in_other_shapes(self) -> None:
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

    def test_what_is_not_understood_is_there_all_the_same(self) -> None:
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

    def test_switched_off(self) -> None:
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

    def test_copilot_is_told_by_the_file_beside_it(self) -> None:
        beside = '{"disabledMcpServers": ["x"], "mcpServers": {"none of its": {}}}'
        found = COPILOT.parse_table('{"mcpServers": {"x": {"command": "x"}}}', [beside])
        self.assertEqual((("x",), {"x"}), (found.names, found.disabled))

    def test_opencode_lays_its_files_over_each_other(self) -> None:
        under = '{"mcp": {"a": {"type": "local", "command": ["x"]}, "b": {}}}'
        found = OPENCODE.parse_table('{"mcp": {"a": {"enabled": false}, "c": null}}', [under])
        self.assertEqual(("a", "b", "c"), found.names)
        self.assertEqual("x", found.servers["a"].command)
        self.assertEqual({"a"}, found.disabled)


class FaultTests(SynchronousTestCase):
    """Positions and rules, never content."""

    def fault(self, dialect: Any, text: str) -> str:
        return str(self.assertRaises(DialectError, dialect.read, text))

    def test_json(self) -> None:
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

    def test_comments_where_the_cli_reads_them(self) -> None:
        self.assertEqual((), GEMINI.parse_table('// a\n{/* b */ "a": "//"}').names)
        self.fault(GEMINI, '{"a": 1,}')
        self.assertEqual((), OPENCODE.parse_table('{"a": [1, /* c */ ], // d\n}').names)
        for text in ("{,}", '{"a": [,]}', '{"a": 1,,}', '{"a": 1} /* no end', '{"a":,}'):
            self.fault(OPENCODE, text)

    def test_toml(self) -> None:
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

    def test_too_many(self) -> None:
        servers = {str(number): None for number in range(SERVER_LIMIT + 1)}
        self.assertEqual(
            "mcpServers has more than 1000 servers",
            self.fault(CLAUDE, json.dumps({"mcpServers": servers})),
        )


class LayoutTests(SynchronousTestCase):
    """Additions look like what is there."""

    def added(self, dialect: Any, before: str, after: str) -> None:
        server = McpServer(kind=McpTransportKind.STDIO, command="run")
        self.assertEqual(dedent(after), dialect.write(dedent(before), {"new": server}))

    def test_behind_the_last_and_its_comment(self) -> None:
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

    def test_a_comma_that_is_there_is_enough(self) -> None:
        before = '{\n\t"mcp": {\n\t\t"old": {},\n\t}\n}'
        after = OPENCODE.add_servers(before, {"new": PLAIN})
        self.assertTrue(
            after.startswith('{\n\t"mcp": {\n\t\t"old": {},\n\t\t"new": {\n\t\t\t"type"')
        )

    def test_on_one_line(self) -> None:
        self.assertEqual(
            '{"a": 1, "mcpServers": {"o": {}, "new": {"command": "run", "args": []}}}',
            GEMINI.add_servers(
                '{"a": 1, "mcpServers": {"o": {}}}',
                {"new": McpServer(kind=McpTransportKind.STDIO, command="run")},
            ),
        )

    def test_an_empty_table(self) -> None:
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

    def test_no_table(self) -> None:
        before = '{\r\n  "b": 1\r\n}\r\n'
        after = GEMINI.add_servers(before, {"new": PLAIN})
        self.assertTrue(after.startswith('{\r\n  "b": 1,\r\n  "mcpServers": {\r\n    "new": {\r\n'))
        self.assertEqual(after.count("\n"), after.count("\r\n"))

    def test_a_blank_that_is_none_for_json(self) -> None:
        """At the end of a comment, where it belongs to the comment."""
        before = '{\n  "mcp": {\n    "old": {} // mine\u00a0\n  }\n}'
        after = OPENCODE.add_servers(before, {"new": PLAIN})
        self.assertIn("// mine\u00a0\n", after)

    def test_toml_tables_go_to_the_end(self) -> None:
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

    def test_toml_between_braces(self) -> None:
        self.added(
            CODEX,
            'mcp_servers = {old = {command = "o"}} # mine\nmodel = "x"\n',
            'mcp_servers = {old = {command = "o"}, new = {command = "run", args = []}} # mine\n'
            'model = "x"\n',
        )
