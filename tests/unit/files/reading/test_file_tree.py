"""Tests for L{tservice.files.reading.file_tree}."""

from __future__ import annotations

import os
from typing import Any

from tests.unit.files.harness import WorkspaceCase, open_descriptors
from tservice.core.kernel.errors import ServiceError
from tservice.files.reading import file_tree as module
from tservice.files.reading.file_tree import TreeRequest, list_tree

TREE_ENTRIES = 500
"""In these tests: it takes a while to make more."""


class FileTreeTests(WorkspaceCase):
    def tree(self, **wanted: Any) -> dict[str, Any]:
        return list_tree(str(self.folder), TreeRequest(**wanted), self.closed)

    def names(self, tree: list[dict[str, Any]]) -> list[str]:
        """All paths, depth first."""
        found = []
        for entry in tree:
            found += [entry["path"], *self.names(entry.get("children", []))]
        return found

    def test_entry_has_type_size_and_time(self) -> None:
        file = self.put("a/b.txt", "12345")
        os.utime(file, ns=(0, 1_700_000_000_123_000_000))
        found = self.tree()
        self.assertEqual((str(self.folder), "."), (found["root"], found["path"]))
        [folder] = found["tree"]
        self.assertEqual(("a", "a", "dir"), (folder["name"], folder["path"], folder["type"]))
        self.assertNotIn("size", folder)
        self.assertEqual(
            {"name": "b.txt", "path": "a/b.txt", "type": "file", "size": 5,
             "mtimeMs": 1_700_000_000_123},
            folder["children"][0],
        )  # fmt: skip
        self.assertEqual((1, 1), (found["totalFiles"], found["totalDirectories"]))
        self.assertFalse(found["truncated"])

    def test_folders_come_before_files_by_name(self) -> None:
        for name in ("b.txt", "A.txt", "z/x", "y/x"):
            self.put(name)
        self.assertEqual(["y", "z", "A.txt", "b.txt"], self.names(self.tree(depth=1)["tree"]))

    def test_tree_depth_starts_at_one_and_is_clamped(self) -> None:
        self.put("/".join("abcdefghijklm") + "/x")
        for depth, levels in ((-5, 1), (0, 1), (1, 1), (2, 2), (10, 10), (99, 10)):
            self.assertEqual(levels, len(self.names(self.tree(depth=depth)["tree"])), depth)

    def test_tree_begins_at_the_given_path(self) -> None:
        self.put("a/b/c.txt")
        found = self.tree(path="a/b")
        self.assertEqual("a/b", found["path"])
        self.assertEqual(["a/b/c.txt"], self.names(found["tree"]))

    def test_hidden_entries_are_shown_on_request(self) -> None:
        self.put(".git/config")
        self.put(".env")
        self.put(".dir/x")
        self.assertEqual([], self.tree()["tree"])
        shown = self.tree(show_hidden=True)["tree"]
        self.assertEqual([".dir", ".dir/x", ".git", ".env"], self.names(shown))

    def test_large_tool_folders_are_entered_only_when_named(self) -> None:
        self.put("node_modules/x/y")
        [entry] = self.tree()["tree"]
        self.assertNotIn("children", entry)
        found = self.tree(path="node_modules")["tree"]
        self.assertEqual(["node_modules/x", "node_modules/x/y"], self.names(found))

    def test_file_tree_does_not_follow_links(self) -> None:
        self.link("out", self.outside)
        self.link("loop", ".")
        kinds = {entry["name"]: entry["type"] for entry in self.tree(depth=10)["tree"]}
        self.assertEqual({"out": "link", "loop": "link"}, kinds)

    def test_special_files_have_type_other(self) -> None:
        os.mkfifo(self.folder / "fifo")
        self.assertEqual("other", self.tree()["tree"][0]["type"])

    def test_folder_of_the_service_is_not_entered(self) -> None:
        self.put("data/secret")
        [entry] = self.tree()["tree"]
        self.assertEqual(("data", None), (entry["name"], entry.get("children")))
        self.assertRaises(ServiceError, self.tree, path="data")

    def test_deepest_level_is_cut(self) -> None:
        self.patch(module, "TREE_ENTRIES", TREE_ENTRIES)
        for number in range(60):
            for each in range(10):
                self.put(f"d{number:02}/f{each:02}")
        found = self.tree()
        self.assertTrue(found["truncated"])
        self.assertEqual(TREE_ENTRIES, found["totalFiles"] + found["totalDirectories"])
        self.assertEqual(60, len(found["tree"]))
        self.assertEqual(10, len(found["tree"][0]["children"]))
        self.assertTrue(found["tree"][-1]["truncated"])

    def test_large_folder_is_truncated(self) -> None:
        self.patch(module, "TREE_ENTRIES", TREE_ENTRIES)
        for number in range(TREE_ENTRIES + 1):
            self.put(f"{number:05}")
        found = self.tree()
        self.assertEqual((True, TREE_ENTRIES), (found["truncated"], found["totalFiles"]))
        self.assertEqual("00499", found["tree"][-1]["name"])

    def test_non_utf8_names_are_shown(self) -> None:
        os.mkdir(os.fsencode(self.folder) + b"/\xff")
        with open(os.fsencode(self.folder) + b"/\xff/x", "w"):
            pass
        self.assertEqual(["\ufffd", "\ufffd/x"], self.names(self.tree()["tree"]))

    def test_descriptors_are_closed_after_listing(self) -> None:
        self.put("a/b/c")
        before = open_descriptors()
        self.tree()
        self.assertRaises(ServiceError, self.tree, path="a/b/c")
        self.assertEqual(before, open_descriptors())
