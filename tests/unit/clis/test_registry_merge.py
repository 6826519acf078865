"""The operator's file laid over the stock entries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tservice.clis.model import ENTRY_LIMIT
from tservice.clis.registry_merge import merge_registry, read_registry_file, write_registry_file
from tservice.clis.stock_entries import load_stock_entries
from tservice.core.disk.files import FileError, UnparsableFile, UnsafeFile

STOCK = load_stock_entries()
CUSTOM = {"label": "Mine", "shortBadge": "MY", "binaries": ["mine"], "argv": ["mine"]}


class RegistryMergeTests(SynchronousTestCase):
    """What the file makes of the registry."""

    def test_empty_file_gives_the_stock_entries(self) -> None:
        merged = merge_registry(STOCK, {})
        self.assertEqual(
            [
                *("primary", "shell", "opencode", "codex", "gemini", "antigravity", "pi"),
                *("copilot", "qwen"),
                *("cline", "cn", "amp", "auggie", "cursor-agent", "droid", "grok", "kimi"),
            ],
            [entry.id for entry in merged.sorted_entries()],
        )

    def test_overrides_are_merged_key_by_key(self) -> None:
        merged = merge_registry(
            STOCK,
            {"codex": {"enabled": False, "capabilities": {"composerReadyMark": "Go"}}},
        )
        codex = merged.entries["codex"]
        self.assertEqual({}, merged.faults)
        self.assertTrue(codex.stock)
        self.assertFalse(codex.enabled)
        self.assertEqual("Go", codex.capabilities.composer_ready_mark)
        self.assertEqual("›", codex.capabilities.prompt_glyph)
        self.assertEqual(STOCK["codex"].params, codex.params)

    def test_custom_entries_come_last_by_default(self) -> None:
        merged = merge_registry(STOCK, {"zz": CUSTOM, "aa": CUSTOM, "mid": {**CUSTOM, "order": 15}})
        order = [entry.id for entry in merged.sorted_entries()]
        self.assertEqual(["primary", "mid", "shell"], order[:3])
        self.assertEqual(["aa", "zz"], order[-2:])
        self.assertFalse(merged.entries["aa"].stock)

    def test_bad_entry_disables_no_other(self) -> None:
        file: dict[str, Any] = {
            "mine": CUSTOM,
            "BAD": CUSTOM,
            "nolabel": {**CUSTOM, "label": ""},
            "liar": {**CUSTOM, "stock": True},
            "list": [],
            "codex": {"stock": False},
            "gemini": {"kind": "shell"},
            "pi": {"binaries": []},
            "shell": {"enabled": False},
        }
        merged = merge_registry(STOCK, file)
        self.assertEqual({**STOCK, "mine": merged.entries["mine"]}, merged.entries)
        self.assertEqual(set(file) - {"mine"}, set(merged.faults))
        self.assertTrue(merged.faults["nolabel"].startswith("label: "))
        self.assertTrue(merged.faults["pi"].startswith("binaries: "))

    def test_entries_are_bounded(self) -> None:
        merged = merge_registry(STOCK, {f"c{n}": CUSTOM for n in range(ENTRY_LIMIT)})
        self.assertEqual(ENTRY_LIMIT, len(merged.entries))
        self.assertEqual(len(STOCK), len(merged.faults))

    @settings(max_examples=example_count(200), deadline=None)
    @given(
        st.dictionaries(
            st.sampled_from([*STOCK, "mine", "X", ""]),
            st.recursive(
                st.none() | st.booleans() | st.integers() | st.text(max_size=8),
                lambda inner: (
                    st.lists(inner, max_size=2)
                    | st.dictionaries(
                        st.sampled_from(["enabled", "argv", "env", "set", "id", "params", "label"]),
                        inner,
                        max_size=3,
                    )
                ),
                max_leaves=5,
            ),
        )
    )
    def test_any_file_keeps_the_stock_entries(self, file: dict[str, Any]) -> None:
        merged = merge_registry(STOCK, file)
        self.assertEqual(set(), set(STOCK) - set(merged.entries))
        self.assertTrue(merged.entries["shell"].enabled)
        for name, entry in merged.entries.items():
            self.assertEqual((name, name in STOCK), (entry.id, entry.stock))
        for name in merged.faults:
            self.assertEqual(STOCK.get(name), merged.entries.get(name))


class RegistryFileTests(SynchronousTestCase):
    """Reading and writing C{clis.json}."""

    def setUp(self) -> None:
        self.path = Path(self.mktemp()).absolute() / "clis.json"
        self.path.parent.mkdir()

    def put(self, content: str, mode: int = 0o600) -> None:
        self.path.write_text(content)
        self.path.chmod(mode)

    def test_clis_file_round_trips(self) -> None:
        self.assertEqual({}, read_registry_file(self.path))
        write_registry_file(self.path, {"mine": CUSTOM})
        self.assertEqual({"mine": CUSTOM}, read_registry_file(self.path))
        self.assertEqual({"clis": {"mine": CUSTOM}}, json.loads(self.path.read_text()))

    def test_clis_file_readable_by_others_is_refused(self) -> None:
        for mode in (0o640, 0o604, 0o620, 0o602, 0o644):
            self.put('{"clis": {}}', mode)
            self.assertRaises(UnsafeFile, read_registry_file, self.path)
        self.put('{"clis": {}}', 0o400)
        self.assertEqual({}, read_registry_file(self.path))

    def test_malformed_clis_file_is_refused(self) -> None:
        for content in ("", "[]", "{}", '{"clis": []}', "null", '{"clis": {}'):
            self.put(content)
            self.assertRaises(UnparsableFile, read_registry_file, self.path)

    def test_linked_clis_file_is_not_written(self) -> None:
        self.path.symlink_to(self.path.with_name("elsewhere"))
        self.assertRaises(FileError, write_registry_file, self.path, {})
