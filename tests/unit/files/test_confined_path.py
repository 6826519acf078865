"""Tests for L{tservice.files.confined_path}: what a path comes to, and where it never leads."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from tests.unit.files.harness import WorkspaceCase, open_descriptors
from tservice.core.kernel.errors import ServiceError
from tservice.core.locations.workspace_bounds import FolderLimit
from tservice.files.confined_path import LINKS, STEPS, AccessRules, ConfinedFolder, find_folder_ids


class FindTests(WorkspaceCase):
    def read(self, path: str) -> str:
        with self.beneath().resolve_path(path) as spot:
            descriptor = spot.open_file()
            try:
                return os.read(descriptor, 100).decode()
            finally:
                os.close(descriptor)

    def where(self, path: str) -> str:
        with self.beneath().resolve_path(path) as spot:
            return spot.path

    def refused(self, path: str) -> str:
        found = self.assertRaises(ServiceError, self.where, path)
        return str(found.code)

    def test_plain_paths_are_found(self) -> None:
        self.put("a/b.txt", "content")
        for path in (
            "a/b.txt",
            "./a//b.txt",
            "a/../a/b.txt",
            "a/./b.txt",
            f"{self.folder}/a/b.txt",
        ):
            self.assertEqual("content", self.read(path), path)
            self.assertEqual("a/b.txt", self.where(path), path)
        for path in (".", "a/..", str(self.folder), f"{self.folder}/"):
            self.assertEqual(".", self.where(path), path)

    def test_links_inside_the_workspace_are_followed(self) -> None:
        self.put("a/b.txt", "content")
        self.link("deep/relative", "../a/b.txt")
        self.link("absolute", self.folder / "a/b.txt")
        self.link("folder", "a")
        self.link("twice", "deep/relative")
        for path in ("deep/relative", "absolute", "folder/b.txt", "twice"):
            self.assertEqual("content", self.read(path), path)
            self.assertEqual("a/b.txt", self.where(path), path)

    def test_no_path_leads_out_of_the_workspace(self) -> None:
        self.link("up", "..")
        self.link("out", self.outside)
        self.link("relative", "../outside/secret.txt")
        self.link("etc", "/etc/passwd")
        self.link("a/again", "../../ws/../outside/secret.txt")
        self.link("proc", "/proc/self/cwd")
        self.link("root", "/")
        for path in (
            "..",
            "../outside/secret.txt",
            "up/outside/secret.txt",
            "out/secret.txt",
            "relative",
            "etc",
            "a/again",
            "proc",
            "root/etc/passwd",
            "/etc/passwd",
            f"{self.folder}2",
            f"{self.folder}/../outside/secret.txt",
            "/",
        ):
            self.assertEqual("FORBIDDEN", self.refused(path), path)

    def test_invalid_paths_are_refused(self) -> None:
        for path in ("", "a\0b", "x" * 4097):
            self.assertEqual("INVALID_INPUT", self.refused(path), path)

    def test_path_resolution_is_bounded(self) -> None:
        self.link("loop", "loop")
        self.put("a/x")
        self.assertEqual("INVALID_INPUT", self.refused("loop"))
        self.assertEqual("INVALID_INPUT", self.refused("a/../" * STEPS + "a"))
        for number in range(LINKS):
            self.link(f"l{number}", f"l{number + 1}")
        self.put(f"l{LINKS}", "end")
        self.assertEqual("end", self.read("l0"))
        self.link("one-more", "l0")
        self.assertEqual("INVALID_INPUT", self.refused("one-more"))

    def test_missing_file_and_missing_folder_are_distinguished(self) -> None:
        with self.beneath().resolve_path("new.txt") as spot:
            self.assertIsNone(spot.status)
            self.assertEqual("new.txt", spot.path)
            self.assertRaises(FileNotFoundError, spot.open_file)
        self.put("file")
        for path, error in (("none/new.txt", FileNotFoundError), ("file/x", NotADirectoryError)):
            with self.assertRaises(error), self.beneath().resolve_path(path):
                self.fail(path)

    def test_dangling_link_names_its_target(self) -> None:
        self.link("dangling", "new.txt")
        with self.beneath().resolve_path("dangling") as spot:
            self.assertEqual(("new.txt", None), (spot.path, spot.status))

    def test_only_regular_files_are_opened(self) -> None:
        os.mkfifo(self.folder / "fifo")
        listening = socket.socket(socket.AF_UNIX)
        self.addCleanup(listening.close)
        listening.bind(str(self.folder / "socket"))
        (self.folder / "sub").mkdir()
        for path in ("fifo", "socket", "sub"):
            with (
                self.beneath().resolve_path(path) as spot,
                self.assertRaises(ServiceError) as caught,
            ):
                spot.open_file()
            self.assertEqual("path: must be a regular file", caught.exception.message)

    def test_only_folders_are_listed(self) -> None:
        self.put("file")
        with self.beneath().resolve_path("file") as spot, self.assertRaises(ServiceError):
            spot.open_folder()

    def test_closed_folders_are_forbidden(self) -> None:
        self.put("data/secret", "closed")
        self.link("way", "data/secret")
        for path in ("data", "data/secret", "way", "data/none"):
            self.assertEqual("FORBIDDEN", self.refused(path), path)

    def test_workspace_inside_a_closed_folder_is_forbidden(self) -> None:
        self.put("data/cases/one/x", "mine")
        self.put("data/x", "closed")
        inside = str(self.data / "cases/one")
        self.assertRaises(ServiceError, ConfinedFolder, inside, self.closed)
        self.assertRaises(ServiceError, ConfinedFolder, str(self.data), self.closed)
        free = AccessRules(find_folder_ids(self.data), find_folder_ids(self.data / "cases"))
        with ConfinedFolder(inside, free) as beneath, beneath.resolve_path("x") as spot:
            self.assertEqual("x", spot.path)
        self.assertRaises(ServiceError, ConfinedFolder, str(self.data), free)

    def test_workspace_reached_through_a_link_is_resolved(self) -> None:
        self.put("a.txt", "content")
        os.symlink(self.folder, self.above / "short")
        self.link("absolute", self.above / "short/a.txt")
        with ConfinedFolder(str(self.above / "short")) as beneath:
            for path in ("a.txt", str(self.above / "short/a.txt"), str(self.folder / "a.txt"),
                         "absolute"):  # fmt: skip
                with beneath.resolve_path(path) as spot:
                    self.assertEqual("a.txt", spot.path)

    def test_workspace_replaced_by_a_link_is_refused(self) -> None:
        (self.above / "cases").mkdir()
        mine = AccessRules(bounds=FolderLimit(self.above / "cases"))
        for target, code in ((self.outside, "FORBIDDEN"), ("/proc/self", "INVALID_INPUT")):
            os.symlink(target, self.above / "cases" / "w")
            with self.assertRaises(ServiceError) as refused:
                ConfinedFolder(str(self.above / "cases" / "w"), mine)
            self.assertEqual(code, refused.exception.code)
            (self.above / "cases" / "w").unlink()
        (self.above / "cases" / "w").mkdir()
        ConfinedFolder(str(self.above / "cases" / "w"), mine).close()

    def test_missing_workspace_is_not_found(self) -> None:
        self.assertRaises(FileNotFoundError, ConfinedFolder, str(self.above / "none"))

    def test_non_utf8_name_is_shown_with_a_replacement_character(self) -> None:
        Path(os.fsdecode(os.fsencode(self.folder) + b"/\xff")).write_text("x")
        self.link("way", os.fsdecode(b"\xff"))
        self.assertEqual("\ufffd", self.where("way"))

    def test_descriptors_are_closed_after_a_search(self) -> None:
        self.put("a/b.txt")
        self.link("link", "a/b.txt")
        before = open_descriptors()
        for path in ("a/b.txt", "link", "..", "none", "a/none/x", "a"):
            with ConfinedFolder(str(self.folder)) as beneath:
                try:
                    with beneath.resolve_path(path):
                        pass
                except (ServiceError, OSError):
                    continue
        self.assertEqual(before, open_descriptors())
