"""The rules of an entry, and the entries that come with the program."""

# The rows are what the programs print.

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from twisted.trial.unittest import SynchronousTestCase

from tests.non_empty import require_items
from tests.unit.clis.fakes import make_entry
from tservice.clis import agents
from tservice.clis.capabilities import HookSupport, TranscriptFormat
from tservice.clis.model import CliEntry, CliKind, parse_entry
from tservice.clis.stock_entries import load_stock_entries
from tservice.core.kernel.errors import ErrorCode, ServiceError

UNTRIED = {"cline", "cn", "amp", "auggie", "cursor-agent", "droid", "grok", "kimi"}
"""CLIs of which nobody looked at what they run unasked."""

AGENTS = Path(agents.__path__[0])

BAD: list[tuple[str, dict[str, Any]]] = [
    ("id", {"id": "X"}),
    ("id", {"id": "x" * 25}),
    ("id", {"id": "../x"}),
    ("label", {"label": ""}),
    ("label", {"label": "x" * 61}),
    ("label", {"label": "a\nb"}),
    ("label", {"label": "a\x1b[31m"}),
    ("shortBadge", {"shortBadge": "1234567"}),
    ("binaries", {"binaries": []}),
    ("binaries", {"binaries": ["a", "b", "c", "d", "e"]}),
    ("binaries.0", {"binaries": ["-rf"]}),
    ("binaries.0", {"binaries": ["a/b"]}),
    ("binaries.0", {"binaries": ["/opt/../bin/sh"]}),
    ("binaries.0", {"binaries": ["a b"]}),
    ("argv", {"argv": []}),
    ("argv", {"argv": ["x"] * 17}),
    ("argv.1", {"argv": ["x", "a b"]}),
    ("argv.1", {"argv": ["x", "$(id)"]}),
    ("argv.1", {"argv": ["x", "a;b"]}),
    ("argv.1", {"argv": ["x", "a\n"]}),
    ("argv.1", {"argv": ["x", "`id`"]}),
    ("argv.1", {"argv": ["x", "*"]}),
    ("argv.1", {"argv": ["x", "~"]}),
    ("argv.1", {"argv": ["x", "'a'"]}),
    ("argv.1", {"argv": ["x", "{a,b}"]}),
    ("argv.1", {"argv": ["x", 1]}),
    ("argv.1", {"argv": ["x", ""]}),
    ("entry", {"argv": ["x", "{model}"]}),
    ("enabled", {"enabled": "yes"}),
    ("order", {"order": -1}),
    ("kind", {"kind": "robot"}),
    ("later", {"later": 1}),
    ("params.P", {"params": {"P": {"type": "bool"}}}),
    ("params.p.flag", {"params": {"p": {"type": "bool", "flag": "x"}}}),
    ("params.p.flag", {"params": {"p": {"type": "bool", "flag": "--x y"}}}),
    ("params.p", {"params": {"p": {"type": "enum"}}}),
    ("params.p", {"params": {"p": {"type": "bool", "values": ["a"]}}}),
    ("params.p.values.0", {"params": {"p": {"type": "enum", "values": ["-a"]}}}),
    ("params.p", {"params": {"p": {"type": "enum", "values": ["a"], "default": "b"}}}),
    ("params.p", {"params": {"p": {"type": "bool", "clampTo": 1}}}),
    (
        "params.p",
        {"params": {"p": {"type": "enum", "values": ["a"], "privileged": ["b"]}}},
    ),
    (
        "params.p",
        {"params": {"p": {"type": "enum", "values": ["a"], "privileged": ["a"], "clampTo": "a"}}},
    ),
    ("params.p.pattern", {"params": {"p": {"type": "token", "pattern": "("}}}),
    ("env.set", {"env": {"set": {"LD_PRELOAD": "x"}}}),
    ("env.set", {"env": {"set": {"SERVICE_MUX": "0"}}}),
    ("env.set.A B", {"env": {"set": {"A B": "x"}}}),
    ("env.set.A", {"env": {"set": {"A": "x\0"}}}),
    ("env.allowedPrefixes.0", {"env": {"allowedPrefixes": [""]}}),
    ("env.allowedPrefixes.0", {"env": {"allowedPrefixes": ["A"]}}),
    ("env", {"env": {"harmless": ["A_B"]}}),
    ("env", {"env": {"allowedPrefixes": ["*"], "harmless": ["PATH"]}}),
    ("env.harmless.0", {"env": {"allowedPrefixes": ["*"], "harmless": ["*"]}}),
    ("install.command.0", {"install": {"command": ["npm install"]}}),
    ("resume.argv", {"resume": {"argv": ["--continue"]}}),
    (
        "capabilities.modelDetect.pattern",
        {"capabilities": {"modelDetect": {"pattern": "a", "rows": 1}}},
    ),
    ("capabilities.workingLine", {"capabilities": {"workingLine": "("}}),
    (
        "capabilities.mcpConfig.format",
        {"capabilities": {"mcpConfig": {"path": "a", "format": "b"}}},
    ),
]


class CliEntryRuleTests(SynchronousTestCase):
    """Each rule is named with its field."""

    def test_bad_entries_name_their_field(self) -> None:
        for field, fields in BAD:
            with self.assertRaises(ServiceError) as caught:
                make_entry(**fields)
            self.assertEqual(ErrorCode.INVALID_INPUT, caught.exception.code)
            self.assertTrue(
                caught.exception.message.startswith(field), (field, caught.exception.message)
            )

    def test_good_entries_are_accepted(self) -> None:
        for fields in (
            {"binaries": ["/opt/my-tool_1.2/bin/tool"]},
            {"binaries": ["agy", "antigravity"]},
            {"argv": ["x", "--model={model}"], "params": {"model": {"type": "token"}}},
            {"argv": ["--print", "@scope/name", "a=b:c%d+e,f"]},
            {"params": {"p": {"type": "int", "flag": "--n=", "default": 3}}},
        ):
            self.assertIsInstance(make_entry(**fields), CliEntry)

    def test_custom_cli_is_trusted_with_nothing(self) -> None:
        entry = make_entry()
        self.assertTrue(entry.enabled)
        self.assertFalse(entry.stock)
        self.assertTrue(entry.capabilities.privileged_command_gate)
        self.assertEqual(HookSupport.NONE, entry.capabilities.hooks)
        self.assertIsNone(entry.capabilities.composer_ready_mark)
        self.assertEqual((), entry.env.allowed_prefixes)

    def test_entry_must_be_plain_data(self) -> None:
        for data in ({"id": object()}, {"id": float("nan")}, {"label": "\ud800"}):
            self.assertRaises(ServiceError, parse_entry, data)

    def test_entries_are_immutable(self) -> None:
        self.assertRaises(ValidationError, setattr, make_entry(), "enabled", False)


READY = {
    "primary": "❯\u00a0",
    "opencode": '  ┃  Ask anything… "Fix a bug"',
    "codex": "› Ask Codex to do anything",
    "gemini": " >   Type your message or @path/to/file",
    "pi": "0.0%/200k (auto)        some-model",
}
NOT_READY = {"primary": " ❯ 1. Yes, I trust this folder", "gemini": " ● 1. Trust folder (x)"}
BUSY = {
    "primary": [
        "✻ Pondering… (12s · ↑ 40 tokens)",
        "· Weaving…",
        "✢ API error · Retrying in 4s · attempt 2/10",
    ],
    "opencode": ["   ■■⬝⬝  esc interrupt      tab agents"],
    "codex": ["• Working (3s • esc to interrupt)"],
    "gemini": ["⠏ Reading the files (esc to cancel, 12s)"],
    "pi": [" ⠴ Working..."],
}
IDLE = {
    "primary": ["✻ Churned for 6s", "● It prints dots… (really)", "  · a list item…"],
    "opencode": ["  tab agents  ctrl+p commands"],
    "codex": ["  Worked for <1s • 10:29"],
    "gemini": [" Esc to cancel"],
    "pi": [" escape interrupt · ctrl+c/ctrl+d clear/exit"],
}
TITLES = {
    "primary": ("⠐ Claude Code", "✳ Claude Code"),
    "codex": ("⠦ work", "work"),
    "gemini": ("✦  Working… (work)", "◇  Ready (work)"),
}
MODELS = {
    "primary": ("│   Opus 9 (1M context) · API Usage Billing   │  │", "Opus 9 (1M context)"),
    "opencode": ("  ┃  Build · Some Model Provider", "Some Model Provider"),
    "codex": ("  some-model high · /home/u/work", "some-model"),
    "gemini": (" /home/u/work          no sandbox                Auto", "Auto"),
    "pi": ("↑1.2k ↓34 1.0%/128k (auto)              some-model", "some-model"),
}


class StockTests(SynchronousTestCase):
    """The packaged entries are whole, and read the screens of the programs they name."""

    def setUp(self) -> None:
        self.stock = load_stock_entries()

    def test_stock_entries_have_ids_badges_and_binaries(self) -> None:
        self.assertEqual(
            {
                "primary": ("CC", "claude"),
                "shell": ("SH", "bash"),
                "opencode": ("OC", "opencode"),
                "codex": ("CX", "codex"),
                "gemini": ("GM", "gemini"),
                "antigravity": ("AG", "agy"),
                "pi": ("PI", "pi"),
                "copilot": ("GH", "copilot"),
                "qwen": ("QW", "qwen"),
                "cline": ("CL", "cline"),
                "cn": ("CN", "cn"),
                "amp": ("AM", "amp"),
                "auggie": ("AU", "auggie"),
                "cursor-agent": ("CU", "cursor-agent"),
                "droid": ("DR", "droid"),
                "grok": ("GK", "grok"),
                "kimi": ("KI", "kimi"),
            },
            {name: (entry.short_badge, entry.binaries[0]) for name, entry in self.stock.items()},
        )
        self.assertTrue(all(entry.stock and entry.enabled for entry in self.stock.values()))
        shells = [name for name, entry in self.stock.items() if entry.kind is CliKind.SHELL]
        self.assertEqual(["shell"], shells)

    def test_each_folder_of_a_cli_has_one_entry_loaded_in_order(self) -> None:
        folders = [path.parent.name for path in AGENTS.glob("*/entry.yaml")]
        self.assertEqual(len(folders), len(self.stock))
        orders = [entry.order for entry in self.stock.values()]
        self.assertEqual(sorted(set(orders)), orders)

    def test_stock_entries_name_no_host(self) -> None:
        for entry in require_items(self.stock.values()):
            words = entry.install.command if entry.install else ()
            self.assertFalse([word for word in words if "://" in word or ".com" in word], entry.id)

    def test_only_claude_always_has_hooks(self) -> None:
        hooked = {n for n, e in self.stock.items() if e.capabilities.hooks is HookSupport.ALWAYS}
        self.assertEqual({"primary"}, hooked)
        written = {
            n
            for n, e in self.stock.items()
            if e.capabilities.transcript is not TranscriptFormat.NONE
        }
        self.assertEqual({"primary", "codex"}, written)

    def test_entries_that_run_any_command_are_gated(self) -> None:
        gated = {n for n, e in self.stock.items() if e.capabilities.privileged_command_gate}
        self.assertEqual({"shell", "pi"} | UNTRIED, gated)

    def test_ready_composers_are_recognized(self) -> None:
        for name, row in READY.items():
            self.assertIn(self.mark(name), row, name)
        for name, row in NOT_READY.items():
            self.assertNotIn(self.mark(name), row, name)

    def mark(self, name: str) -> str:
        mark = self.stock[name].capabilities.composer_ready_mark
        assert mark is not None
        return mark

    def test_working_lines_are_recognized(self) -> None:
        for rows, hit in ((BUSY, True), (IDLE, False)):
            for name, lines in rows.items():
                pattern = self.stock[name].capabilities.working_line
                assert pattern is not None
                for line in lines:
                    self.assertIs(hit, re.search(pattern, line) is not None, line)

    def test_working_titles_are_recognized(self) -> None:
        for name, (busy, idle) in TITLES.items():
            pattern = self.stock[name].capabilities.working_title
            assert pattern is not None
            self.assertIsNotNone(re.search(pattern, busy), busy)
            self.assertIsNone(re.search(pattern, idle), idle)

    def test_models_on_the_screen_are_recognized(self) -> None:
        for name, (row, model) in MODELS.items():
            detect = self.stock[name].capabilities.model_detect
            assert detect is not None
            found = re.search(detect.pattern, row)
            assert found is not None, row
            self.assertEqual(model, found[1])
