"""Finding repositories."""

from __future__ import annotations

import os
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.unit.git.random_repositories import make_bare_minimum
from tservice.core.disk.kernel_paths import open_without_magic_links
from tservice.git import search as module
from tservice.git import small_files
from tservice.git.model import FoundRepositories, GitRepository
from tservice.git.references import has_reference
from tservice.git.search import (
    SearchBounds,
    find_owners,
    find_repositories,
    has_symlink_in_path,
    recognise_repository,
)


class LocateCase(SynchronousTestCase):
    def setUp(self) -> None:
        self.top = Path(self.mktemp()).resolve()
        self.top.mkdir()
        self.home = self.top / "home"
        self.work = self.home / "work"
        self.work.mkdir(parents=True)

    def find(self, workspace: Path, *forbidden: Path) -> FoundRepositories:
        bounds = SearchBounds(
            home=os.fsencode(self.home), forbidden=frozenset(map(os.fsencode, forbidden))
        )
        return find_repositories(os.fsencode(workspace), bounds)

    def names(self, workspace: Path, *forbidden: Path) -> list[str]:
        found = self.find(workspace, *forbidden).repositories
        return [each.path_relative_to(os.fsencode(workspace)) for each in found]

    def one(self, root: Path) -> GitRepository:
        repository = recognise_repository(os.fsencode(root))
        assert repository is not None
        return repository


class UpwardsTests(LocateCase):
    """The repository around the workspace."""

    def test_repository_is_found_in_the_folder_and_above(self) -> None:
        make_bare_minimum(self.work)
        inner = self.work / "a" / "b"
        inner.mkdir(parents=True)
        self.assertEqual(["."], self.names(self.work))
        self.assertEqual(["../.."], self.names(inner))
        self.assertFalse(self.find(inner).scanned)

    def test_home_is_a_repository_only_as_the_workspace(self) -> None:
        make_bare_minimum(self.home)
        make_bare_minimum(self.top)
        self.assertEqual([], self.names(self.work))
        self.assertEqual(["."], self.names(self.home))
        self.assertEqual(["."], self.names(self.top))

    def test_repositories_outside_home_are_found_above(self) -> None:
        other = make_bare_minimum(self.top / "other")
        (other / "x").mkdir()
        self.assertEqual([".."], self.names(other / "x"))

    def test_container_workspace_is_not_searched(self) -> None:
        make_bare_minimum(self.work)
        inner = make_bare_minimum(self.work / "in")
        self.assertEqual([], self.names(self.work, self.work))
        self.assertEqual([".."], self.names(inner, inner), "what lies around it may be looked at")
        self.assertEqual([], self.names(inner, self.work))

    def test_control_folder_in_a_container_workspace_is_ignored(self) -> None:
        """A container may write there: it decides what is configured."""
        shared = make_bare_minimum(self.home / "shared")
        (self.work / ".git").write_text(f"gitdir: {shared}/.git\n")
        self.assertEqual(["."], self.names(self.work))
        self.assertEqual([], self.names(self.work, shared))

    def test_repository_that_leads_outside_is_ignored(self) -> None:
        """All of a repository is below it, or there is none."""
        other = make_bare_minimum(self.top / "other")
        (self.work / ".git").write_text(f"gitdir: {other}/.git\n")
        bounds = SearchBounds(home=b"/", top=os.fsencode(self.work))
        workspace = os.fsencode(self.work)
        self.assertEqual((), find_repositories(workspace, bounds).repositories)
        (self.work / ".git").unlink()
        make_bare_minimum(self.work)
        [found] = find_repositories(workspace, bounds).repositories
        self.assertFalse(bounds.is_outside(found))
        (self.work / ".git/commondir").write_text(f"{other}/.git\n")
        self.assertEqual((), find_repositories(workspace, bounds).repositories)

    def test_no_file_outside_the_top_is_read(self) -> None:
        """Neither through a link in place of a pointer, nor in what a pointer leads to."""
        opened: list[str] = []
        real = open_without_magic_links

        def noted(path: str, flags: int) -> int:
            opened.append(os.path.realpath(path))
            return real(path, flags)

        self.patch(small_files, "open_without_magic_links", noted)
        other = make_bare_minimum(self.top / "other")
        (other / ".git/commondir").write_text(".\n")
        (other / "file").write_text(f"gitdir: {other}/.git\n")
        bounds = SearchBounds(home=b"/", top=os.fsencode(self.work))
        pointer = self.work / ".git"
        for made in (
            lambda: pointer.symlink_to(other / "file"),
            lambda: pointer.symlink_to(other / ".git"),
            lambda: pointer.write_text(f"gitdir: {other}/.git\n"),
            lambda: (make_bare_minimum(self.work) / ".git/commondir").symlink_to(
                other / ".git/commondir"
            ),
        ):
            made()
            self.assertEqual((), find_repositories(os.fsencode(self.work), bounds).repositories)
            self.assertEqual([], [path for path in opened if not path.startswith(f"{self.work}/")])
            if not pointer.is_dir() or pointer.is_symlink():
                pointer.unlink()

    def test_missing_folder_is_an_error(self) -> None:
        self.assertRaises(OSError, self.find, self.work / "absent")


class DownwardsTests(LocateCase):
    """The repositories below the workspace."""

    def test_repositories_below_are_listed_nearest_first_then_by_name(self) -> None:
        for name in ("b", "a/z", "c/y", "a/b/deep", "b/inside", "B"):
            make_bare_minimum(self.work / name)
        self.assertEqual(["B", "b", "a/z", "c/y"], self.names(self.work))
        self.assertTrue(self.find(self.work).scanned)

    def test_hidden_tool_and_linked_folders_are_skipped(self) -> None:
        for name in (".dot", "node_modules", "venv", "ok/target", "ok/__pycache__"):
            make_bare_minimum(self.work / name)
        elsewhere = make_bare_minimum(self.top / "elsewhere")
        (self.work / "link").symlink_to(elsewhere)
        self.assertEqual([], self.names(self.work))

    def test_forbidden_folder_is_not_searched(self) -> None:
        make_bare_minimum(self.work / "a")
        make_bare_minimum(self.work / "c" / "d")
        self.assertEqual(["a"], self.names(self.work, self.work / "c"))

    def test_found_repositories_are_bounded(self) -> None:
        for number in range(module.FOUND_LIMIT + 5):
            make_bare_minimum(self.work / f"{number:03}")
        found = self.find(self.work)
        self.assertEqual(module.FOUND_LIMIT, len(found.repositories))
        self.assertTrue(found.more)

    def test_incomplete_search_is_reported(self) -> None:
        self.patch(module, "FOLDERS_LIMIT", 3)
        for number in range(5):
            (self.work / str(number)).mkdir()
        self.assertTrue(self.find(self.work).more)


class RecogniseTests(LocateCase):
    """What counts as a repository."""

    def test_worktree_is_recognized_with_its_repository(self) -> None:
        main = make_bare_minimum(self.home / "main")
        control = main / ".git" / "worktrees" / "w"
        control.mkdir(parents=True)
        (control / "HEAD").write_text("x")
        (control / "commondir").write_text("../..\n")
        (self.work / ".git").write_text(f"gitdir: {control}\n")
        found = self.one(self.work)
        self.assertEqual(os.fsencode(control), found.control)
        self.assertEqual(os.fsencode(main / ".git"), found.common)

    def test_invalid_git_files_are_no_repository(self) -> None:
        for text in ("", "gitdir: ", "gitdir: /absent", "gitdir: a\0b", "x" * 9000):
            (self.work / ".git").write_text(text)
            self.assertIsNone(recognise_repository(os.fsencode(self.work)), text[:20])
        (self.work / ".git").unlink()
        (self.work / ".git").mkdir()
        self.assertIsNone(recognise_repository(os.fsencode(self.work)))

    def test_moved_repository_is_detected(self) -> None:
        found = self.one(make_bare_minimum(self.work))
        self.assertFalse(has_symlink_in_path(found))
        self.work.rename(self.home / "other")
        self.work.symlink_to(self.home / "other")
        self.assertTrue(has_symlink_in_path(found))

    def test_owners_of_the_repository_are_collected(self) -> None:
        self.assertEqual({os.geteuid()}, find_owners(self.one(make_bare_minimum(self.work))))


class ReferenceTests(LocateCase):
    """One reference, loose or packed."""

    def test_loose_and_packed_references_are_found(self) -> None:
        repository = self.one(make_bare_minimum(self.work))
        loose = self.work / ".git" / "refs" / "remotes" / "origin"
        loose.mkdir(parents=True)
        (loose / "main").write_text("0" * 40 + "\n")
        (self.work / ".git" / "packed-refs").write_text(
            f"# pack-refs with: peeled fully-peeled sorted\n{'1' * 40} refs/remotes/origin/old\n"
            f"{'1' * 40} refs/tags/t\n^{'2' * 40}\n"
        )
        self.assertTrue(has_reference(repository, "origin/main"))
        self.assertTrue(has_reference(repository, "origin/old"))
        for absent in ("origin/x", "../../HEAD", "", "a..b"):
            self.assertFalse(has_reference(repository, absent), absent)

    def test_malformed_packed_lines_hold_no_reference(self) -> None:
        repository = self.one(make_bare_minimum(self.work))
        packed = self.work / ".git" / "packed-refs"
        name, sha = "refs/heads/x", "1" * 40
        for text in (f"x{sha} {name}", f"{sha} {name}y", f"{sha[1:]} {name}", f" {name}"):
            packed.write_text(f"{text}\n")
            self.assertFalse(has_reference(repository, "x"), text)
        for text in (f"{sha} {name}", f"a\n{sha} {name}\r\n", f" {name}\n{'a' * 64} {name}\n"):
            packed.write_text(text)
            self.assertTrue(has_reference(repository, "x"), text)

    def test_millions_of_packed_lines_are_searched_quickly(self) -> None:
        """Taken apart they were gigabytes; C{bench/hostile.py} measures the time."""
        repository = self.one(make_bare_minimum(self.work))
        packed = self.work / ".git" / "packed-refs"
        for line in ("a\n", " refs/heads/x\n"):
            packed.write_text(line * (8 * 1024 * 1024 // len(line)))
            self.assertFalse(has_reference(repository, "x"), line)

    def test_unreadable_packed_references_are_ignored(self) -> None:
        repository = self.one(make_bare_minimum(self.work))
        (self.work / ".git" / "packed-refs").write_text("nonsense\n")
        self.assertFalse(has_reference(repository, "origin/main"))
        os.unlink(self.work / ".git" / "packed-refs")
        os.mkfifo(self.work / ".git" / "packed-refs")
        self.assertFalse(has_reference(repository, "origin/main"))
