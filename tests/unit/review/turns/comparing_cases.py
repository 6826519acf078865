"""Comparison of a working tree with what it was at the end of a turn."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tests.unit.git.random_repositories import ENVIRON, NAMES, run_git
from tests.unit.git.real_git import folder_fingerprint
from tests.unit.review.random_edits import RandomEditor, make_content
from tests.unit.review.review_harness import SESSION_ID
from tests.unit.review.turns.turns_harness import TurnTestCase, list_files
from tservice.review.comparison.comparer import Sides
from tservice.review.comparison.hunks import Hunk, RowKind
from tservice.review.model import BaseSource, ChangedFile, FileStatus

RANDOM_TURNS = 10
"""Number of turns in each repository."""
STATES = {b"A": "added", b"D": "deleted", b"M": "modified", b"T": "type-changed"}


def copy_files(top: Path, target: Path) -> None:
    """Copy a working tree without its repository."""
    shutil.copytree(top, target, symlinks=True, ignore=shutil.ignore_patterns(".git"))


def list_by_git(before: Path, after: Path) -> dict[bytes, str]:
    """Return the differences of two folders as git finds them without a repository."""
    words = ("git", "diff", "--no-index", "--no-renames", "--name-status", "-z", before, after)
    done = subprocess.run(words, env=ENVIRON, capture_output=True, check=False)
    fields = done.stdout.split(b"\0")[:-1]
    found = {}
    for state, path in zip(fields[::2], fields[1::2], strict=True):
        top = next(each for each in (before, after) if path.startswith(b"%s/" % bytes(each)))
        found[os.path.relpath(path, bytes(top))] = STATES[state]
    return found


def read_content(path: Path) -> bytes:
    """Return the content of a file or the target of a link; nothing for no file."""
    if path.is_symlink():
        return os.fsencode(os.readlink(path))
    return path.read_bytes() if path.exists() else b""


def apply_hunks(before: bytes, hunks: list[Hunk]) -> bytes:
    """Return the text that the hunks make of another one."""
    lines = [each + b"\n" for each in before.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    found: list[bytes] = []
    at = 0
    for hunk in hunks:
        first = hunk.old_start - (1 if hunk.old_count else 0)
        found += lines[at:first]
        at = first + hunk.old_count
        found += [
            row.raw + (b"" if row.lacks_newline else b"\n")
            for row in hunk.rows
            if row.kind is not RowKind.REMOVED
        ]
    return b"".join(found + lines[at:])


class TurnComparisonTests(TurnTestCase):
    """One repository at the ends of several turns."""

    def setUp(self) -> None:
        super().setUp()
        names = ("same", "edited", "dirty")
        contents = {name: f"{name}\n1\n2\n3\n" for name in names}
        self.first = self.commit(**contents, gone="x\n")

    async def test_only_later_changes_are_listed(self) -> None:
        self.write("dirty", "dirty\n1\n2\n")
        self.write("fresh", "a\n")
        await self.end_turn(10)
        self.assertEqual({}, await self.read_listed(10))
        self.write("edited", "edited\n1\n2\n3\n4\n")
        self.write("fresh", "a\nb\n")
        (self.folder / "gone").unlink()
        self.commit(committed="new\n")
        self.write("late", "c\n")
        expected = {
            "committed": ("added", 1, 0),
            "edited": ("modified", 1, 0),
            "fresh": ("modified", 1, 0),
            "gone": ("deleted", 0, 1),
            "late": ("added", 1, 0),
        }
        self.assertEqual(expected, await self.read_listed(10))
        base = (await self.read(10)).base
        self.assertEqual((BaseSource.TURN, "turn:10"), (base.source, base.ref))

    async def test_file_that_is_as_in_the_commit_again_is_listed(self) -> None:
        self.write("dirty", "dirty\n1\n2\n")
        (self.folder / "gone").unlink()
        self.write("fresh", "a\n")
        await self.end_turn(10)
        run_git(self.folder, "checkout", "-q", ".")
        (self.folder / "fresh").unlink()
        expected = {
            "dirty": ("modified", 1, 0), "fresh": ("deleted", 0, 1), "gone": ("added", 1, 0),
        }  # fmt: skip
        self.assertEqual(expected, await self.read_listed(10))
        (hunk,) = (await self.diff(10, "dirty")).page.hunks
        self.assertEqual([b"3"], [row.raw for row in hunk.changed_rows])

    async def test_renamed_file_that_was_recorded_is_a_removed_and_an_added_one(self) -> None:
        await self.end_turn(10)
        run_git(self.folder, "mv", "same", "there")
        self.assertEqual({"there": ("renamed", 0, 0)}, await self.read_listed(10))
        run_git(self.folder, "mv", "there", "same")
        (self.folder / "edited").chmod(0o755)
        await self.end_turn(20)
        run_git(self.folder, "mv", "edited", "moved")
        expected = {"edited": ("deleted", 0, 4), "moved": ("added", 4, 0)}
        self.assertEqual(expected, await self.read_listed(20))
        (hunk,) = (await self.diff(20, "edited")).page.hunks
        self.assertEqual(4, hunk.old_count)

    async def test_file_of_the_commit_has_the_line_ends_of_a_checkout(self) -> None:
        self.commit(**{".gitattributes": "*.txt text eol=crlf\n", "old.txt": "a\r\nb\r\nc\r\n"})
        await self.end_turn(10)
        (self.folder / "old.txt").rename(self.folder / "new.txt")
        run_git(self.folder, "add", "-A")
        self.write("old.txt", "a\r\nb\r\nc\r\n")
        self.assertEqual({"new.txt": ("added", 3, 0)}, await self.read_listed(10))

    async def test_links_modes_and_binary_files(self) -> None:
        (self.folder / "link").symlink_to("edited")
        self.write("program", "x\n")
        self.write("binary", b"\0\1")
        await self.end_turn(10)
        (self.folder / "link").unlink()
        (self.folder / "link").symlink_to("gone")
        (self.folder / "program").chmod(0o755)
        self.write("binary", b"\0\2")
        expected = {
            "binary": ("modified", 0, 0), "link": ("modified", 1, 1), "program": ("modified", 0, 0),
        }  # fmt: skip
        self.assertEqual(expected, await self.read_listed(10))
        self.assertTrue((await self.diff(10, "binary")).file.is_binary)

    async def test_commit_that_git_removed_is_said(self) -> None:
        self.write("edited", "work\n")
        run_git(self.folder, "commit", "-q", "-a", "-m", "to be amended")
        await self.end_turn(10)
        run_git(self.folder, "commit", "-q", "--amend", "-m", "amended")
        self.assertEqual({}, await self.read_listed(10))
        run_git(self.folder, "reflog", "expire", "--expire=now", "--all")
        run_git(self.folder, "gc", "-q", "--prune=now")
        error = await self.refuse(409, self.read(10))
        text = "base: the files at the end of this turn are no longer kept"
        self.assertEqual(text, error.message)

    async def test_unknown_turn_is_said(self) -> None:
        await self.refuse(409, self.read(10))
        await self.refuse(409, self.diff(10, "edited"))

    async def test_file_that_is_not_listed_cannot_be_read(self) -> None:
        self.write(".gitignore", "secret\n")
        self.write("secret", "x\n")
        await self.end_turn(10)
        self.write("secret", "y\n")
        self.assertEqual({}, await self.read_listed(10))
        await self.refuse(404, self.diff(10, "secret"))
        await self.refuse(404, self.diff(10, "../other"))

    async def test_comparing_and_recording_write_nothing_in_the_repository(self) -> None:
        self.write("edited", "1\n")
        self.write("fresh", "1\n")
        before = folder_fingerprint(self.folder)
        await self.end_turn(10)
        await self.read(10)
        self.assertEqual(before, folder_fingerprint(self.folder))

    async def test_other_operations_do_not_take_a_turn_for_a_base(self) -> None:
        await self.end_turn(10)
        self.write("edited", "x\n")
        await self.refuse(400, self.world.diff("edited", "turn:10"))
        self.assertTrue(self.comparer.is_needed(Sides(base="turn:10")))
        self.assertFalse(self.comparer.is_needed(Sides(base="main")))

    async def test_one_turn_is_the_difference_of_two_ends(self) -> None:
        self.write("dirty", "dirty\n1\n")
        await self.end_turn(10)
        self.write("edited", "edited\n1\n2\n3\n4\n")
        self.commit(fresh="a\n")
        self.write("late", "b\n")
        await self.end_turn(20)
        self.write("same", "later\n")
        (self.folder / "late").unlink()
        expected = {
            "edited": ("modified", 1, 0), "fresh": ("added", 1, 0), "late": ("added", 1, 0),
        }  # fmt: skip
        self.assertEqual(expected, await self.read_listed(10, "turn:20"))
        (hunk,) = (await self.diff(10, "late", "turn:20")).page.hunks
        self.assertEqual([b"b"], [row.raw for row in hunk.rows])
        target = (await self.read(10, "turn:20")).target
        self.assertEqual("turn:20", target and target.ref)
        backwards = {
            "edited": ("modified", 0, 1), "fresh": ("deleted", 0, 1), "late": ("deleted", 0, 1),
        }  # fmt: skip
        self.assertEqual(backwards, await self.read_listed(20, "turn:10"))

    async def test_commit_and_the_end_of_a_turn(self) -> None:
        self.write("dirty", "dirty\n1\n2\n")
        await self.end_turn(10)
        self.commit(fresh="a\n")
        found = list_files(await self.compare(Sides(base=self.first, target="turn:10")))
        self.assertEqual({"dirty": ("modified", 0, 1)}, found)
        self.assertEqual({"fresh": ("added", 1, 0)}, await self.read_listed(10, "HEAD"))

    async def test_two_commits_are_compared_as_git_does(self) -> None:
        run_git(self.folder, "mv", "edited", "moved")
        (self.folder / "binary.png").write_bytes(b"\x89PNG\0\1")
        self.commit(dirty="dirty\n1\n2\n4\n")
        self.write("same", "not committed\n")
        sides = Sides(base=self.first, target="HEAD")
        expected = {
            "binary.png": ("added", 0, 0),
            "dirty": ("modified", 1, 1),
            "moved": ("renamed", 0, 0),
        }
        self.assertEqual(expected, list_files(await self.compare(sides)))
        self.assertEqual([], [*(await self.diff_sides(sides, "moved")).page.hunks])
        image = (await self.diff_sides(sides, "binary.png")).new_image
        self.assertEqual("image/png", image and image.media_type)
        error = await self.refuse(404, self.diff_sides(sides, "same"))
        self.assertEqual("File not found", error.message)

    async def test_unknown_target_is_named(self) -> None:
        for name in ("turn:5", "turn:x", "nothing", "-x", "a..b"):
            status = 409 if name == "turn:5" else 400
            error = await self.refuse(status, self.compare(Sides(base="HEAD", target=name)))
            self.assertTrue(error.message.startswith("target: "), error.message)


class RandomTurnTests(TurnTestCase):
    """Turns that change anything, each seed in a repository of its own."""

    def work_randomly(self, editor: RandomEditor) -> None:
        """Edit, stage, commit, amend and stash as an agent does in a turn."""
        chance = editor.rng
        for _ in range(chance.randrange(4)):
            editor.edit_something()
        if chance.random() < 0.4:
            run_git(self.folder, "add", "-A")
        if chance.random() < 0.3:
            editor.commit("turn")
        if chance.random() < 0.2:
            run_git(self.folder, "commit", "-q", "--amend", "--allow-empty", "-m", "amended")
        if chance.random() < 0.1:
            run_git(self.folder, "stash", "-q", "-u")

    async def check_random_turns(self, seed: int) -> None:
        """Compare the ends of turns as git compares copies of the working tree."""
        editor = RandomEditor(self.folder, seed)
        for name in NAMES[:10]:
            editor.write(name, make_content(editor.rng))
        editor.commit("first")
        copies: dict[int, Path] = {}
        compared = 0
        for at in range(1, RANDOM_TURNS + 1):
            self.work_randomly(editor)
            copies[at] = self.folder.parent / "copies" / str(at)
            copy_files(self.folder, copies[at])
            await self.end_turn(at)
            recorded = self.turns.list_turns(SESSION_ID, ".")
            # A turn that changed nothing is not recorded.
            if recorded[0] != at:
                self.assertEqual({}, list_by_git(copies[recorded[0]], copies[at]))
            before = editor.rng.choice(recorded)
            compared += await self.compare_with_copies(
                Sides(base=f"turn:{before}"), copies[before], copies[at]
            )
            first, second = (editor.rng.choice(recorded) for _ in range(2))
            compared += await self.compare_with_copies(
                Sides(base=f"turn:{first}", target=f"turn:{second}"), copies[first], copies[second]
            )
        self.assertGreater(compared, RANDOM_TURNS)

    async def compare_with_copies(self, sides: Sides, before: Path, after: Path) -> int:
        """Compare the list and the hunks with copies, and return the number of files."""
        files = (await self.compare(sides)).files
        found = dict(pair for file in files for pair in list_states(file))
        self.assertEqual(list_by_git(before, after), found, (before, after))
        for file in files:
            diff = await self.diff_sides(sides, file.display_path)
            old = read_content(before / os.fsdecode(file.base_path))
            new = read_content(after / os.fsdecode(file.path))
            if not diff.file.is_binary:
                made = apply_hunks(old, [*diff.page.hunks])
                self.assertEqual(new, made, (before, after, file.path))
        return len(files)

    async def test_random_turns_are_as_git_says(self) -> None:
        await self.check_random_turns(44)


def list_states(file: ChangedFile) -> list[tuple[bytes, str]]:
    """Return the states of a file's paths as git names them without renames."""
    if file.original is None:
        return [(file.path, file.status.value)]
    return [(file.original, FileStatus.DELETED.value), (file.path, FileStatus.ADDED.value)]
