"""Comparison of a session's working tree with that of another session."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import evolve
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.git.random_repositories import run_git
from tests.unit.git.real_git import folder_fingerprint
from tests.unit.review.review_harness import (
    ANN,
    SESSION_ID,
    FolderCopies,
    ReviewTestCase,
    add_session_row,
)
from tservice.core.callers.caller import Caller
from tservice.core.kernel.errors import make_not_found_error
from tservice.git.interfaces import WorkingCopy
from tservice.review.comparison import comparer as comparer_module
from tservice.review.comparison import trees as trees_module
from tservice.review.comparison.changes import DiffOptions, FileDiff
from tservice.review.comparison.comparer import Sides, TreeComparer
from tservice.review.comparison.hunks import (
    COMPARED_LINES,
    Hunk,
    RowKind,
    compare_texts,
)
from tservice.review.comparison.worktrees import SessionTrees
from tservice.review.model import BaseSource, RepositoryChanges
from tservice.sessions.interfaces import Session

OTHER = "s2"
SIDES = Sides(base=f"session:{OTHER}")


class TwoSessions:
    """Two sessions, each in its own working tree."""

    def __init__(self, first: Session, folder: Path) -> None:
        second = evolve(first, id=OTHER, name="rival", working_dir=str(folder))
        self.sessions = {SESSION_ID: first, OTHER: second}
        self.hidden: set[str] = set()

    def get(self, session_id: str, caller: Caller | None = None) -> Session:
        if session_id not in self.sessions or (caller is not None and session_id in self.hidden):
            raise make_not_found_error("Session")
        return self.sessions[session_id]

    def list(self, caller: Caller | None = None) -> list[Session]:
        return [each for key, each in self.sessions.items() if key not in self.hidden]


class TwoFolders:
    """The repositories of both sessions."""

    def __init__(self, copies: dict[str, FolderCopies]) -> None:
        self.copies = copies

    async def open_working_copies(self, session_id: str) -> Sequence[WorkingCopy]:
        return await self.copies[session_id].open_working_copies(session_id)


NAMES = ["same", "mine", "theirs", "both", "gone", "new", "inner/x", "inner/y", "\xe9t\xe9"]


def edit_randomly(top: Path, chance: random.Random) -> None:
    """Write, remove, rename, stage and commit files."""
    for _ in range(chance.randrange(6)):
        path, target = top / chance.choice(NAMES), top / chance.choice(NAMES)
        path.parent.mkdir(exist_ok=True)
        target.parent.mkdir(exist_ok=True)
        match chance.randrange(4) if path.exists() else 3:
            case 0:
                path.unlink()
            case 1:
                path.rename(target)
            case 2:
                path.chmod(chance.choice([0o644, 0o755]))
            case _:
                path.write_text("".join(f"{chance.randrange(5)}\n" for _ in range(6)))
    if chance.random() < 0.5:
        run_git(top, "add", "-A")
        if chance.random() < 0.5:
            run_git(top, "commit", "-q", "--allow-empty", "-m", "work")


def read_files(top: Path) -> dict[str, tuple[bytes, bool]]:
    """Return the content of each file, and true if it can be run."""
    return {
        str(path.relative_to(top)): (path.read_bytes(), bool(path.stat().st_mode & 0o100))
        for path in top.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }


class WorktreeTests(ReviewTestCase):
    """Two worktrees of one repository."""

    def setUp(self) -> None:
        super().setUp()
        self.start = self.commit(
            **{name: f"{name}\n1\n2\n3\n" for name in ("same", "mine", "theirs", "both", "alike")},
            gone="x\n",
        )
        self.other = self.folder.parent / "other"
        run_git(self.folder, "worktree", "add", "-q", "-b", "rival", str(self.other))
        self.sessions = TwoSessions(self.world.sessions.session, self.other)
        add_session_row(self.world.database, OTHER)
        self.comparer = self.make_comparer(self.other)

    def make_comparer(self, other: Path) -> TreeComparer:
        git = self.world.review._copies.git  # type: ignore[attr-defined]
        folders = {SESSION_ID: self.folder, OTHER: other}
        self.copies = TwoFolders({key: FolderCopies(git, each) for key, each in folders.items()})
        copies: Any = self.copies
        sessions: Any = self.sessions
        self.trees = SessionTrees(sessions, copies, self.world.store)
        return TreeComparer(self.world.clock, copies, [self.trees], self.world.review.make_wish)

    def write_other(self, path: str, content: str | bytes) -> None:
        data = content.encode() if isinstance(content, str) else content
        (self.other / path).write_bytes(data)

    async def read(self) -> RepositoryChanges:
        return (await self.comparer.read_changes(SESSION_ID, SIDES, ANN))[0]

    async def read_listed(self) -> dict[str, tuple[str, int, int]]:
        return {
            file.display_path: (file.status.value, file.added, file.removed)
            for file in (await self.read()).files
        }

    async def diff(self, path: str, **options: Any) -> FileDiff:
        wanted = DiffOptions(**{"context": 3, **options})
        return await self.comparer.read_file_diff(SESSION_ID, SIDES, None, path, wanted, ANN)

    async def test_files_of_either_side_are_listed_unless_they_are_the_same(self) -> None:
        self.write("mine", "mine\n1\n2\n3\n4\n")
        self.commit(alike="new\n")
        self.write_other("alike", "new\n")
        self.write_other("theirs", "theirs\n1\n3\n")
        self.write("both", "both\n1\n2\nmine\n")
        self.write_other("both", "both\n1\n2\nrival\n")
        self.write_other("fresh", "a\nb\n")
        (self.folder / "gone").unlink()
        run_git(self.other, "add", "-A")
        run_git(self.other, "commit", "-q", "-m", "rival")
        self.write_other("late", "c\n")
        self.assertEqual(
            {
                "both": ("modified", 1, 1),
                "fresh": ("deleted", 0, 2),
                "gone": ("deleted", 0, 1),
                "late": ("deleted", 0, 1),
                "mine": ("modified", 1, 0),
                "theirs": ("modified", 1, 0),
            },
            await self.read_listed(),
        )
        changes = await self.read()
        self.assertEqual((BaseSource.SESSION, "rival"), (changes.base.source, changes.base.ref))
        self.assertEqual((6, 3, 5), (
            changes.totals.files, changes.totals.added, changes.totals.removed
        ))  # fmt: skip

    async def test_list_is_that_of_the_files_that_differ_after_random_edits(self) -> None:
        chance = random.Random(44)
        for number in range(10):
            for top in (self.folder, self.other):
                edit_randomly(top, chance)
            mine, theirs = read_files(self.folder), read_files(self.other)
            expected = {
                name: "added"
                if name not in theirs
                else "deleted"
                if name not in mine
                else "modified"
                for name in {*mine, *theirs}
                if mine.get(name) != theirs.get(name)
            }
            found = {name: status for name, (status, *_) in (await self.read_listed()).items()}
            self.assertEqual(expected, found, number)

    async def test_lines_are_those_of_both_working_trees(self) -> None:
        self.write("both", "both\n1\n2\nmine\n")
        self.write_other("both", "both\n1\n2\nrival\n")
        (hunk,) = (await self.diff("both")).page.hunks
        self.assertEqual(
            [(RowKind.REMOVED, b"rival", 4, None), (RowKind.ADDED, b"mine", None, 4)],
            [(row.kind, row.raw, row.old, row.new) for row in hunk.changed_rows],
        )
        self.write("mine", "mine\n1\n2\n")
        self.world.clock.advance(60)
        (hunk,) = (await self.diff("mine")).page.hunks
        self.assertEqual([b"3"], [row.raw for row in hunk.changed_rows])

    async def test_renamed_file_that_the_other_changed_is_a_removed_and_an_added_one(self) -> None:
        run_git(self.folder, "mv", "mine", "moved")
        self.assertEqual({"moved": ("renamed", 0, 0)}, await self.read_listed())
        self.write_other("mine", "mine\n1\n2\n")
        self.assertEqual(
            {"mine": ("deleted", 0, 3), "moved": ("added", 4, 0)}, await self.read_listed()
        )

    async def test_other_session_is_a_target_too(self) -> None:
        self.write("mine", "mine\n")
        self.write_other("theirs", "theirs\n1\n2\n3\n4\n")
        sides = Sides(base="HEAD", target=f"session:{OTHER}")
        (found,) = await self.comparer.read_changes(SESSION_ID, sides, ANN)
        self.assertEqual([(b"theirs", 1, 0)], [(f.path, f.added, f.removed) for f in found.files])
        self.assertEqual(BaseSource.SESSION, found.target and found.target.source)
        wanted = DiffOptions(context=0)
        read = self.comparer.read_file_diff(SESSION_ID, sides, None, "theirs", wanted, ANN)
        (hunk,) = (await read).page.hunks
        self.assertEqual([b"4"], [row.raw for row in hunk.rows])
        self.sessions.hidden.add(OTHER)
        read = self.comparer.read_file_diff(SESSION_ID, sides, None, "theirs", wanted, ANN)
        error = await self.refuse(400, read)
        self.assertEqual("target: there is no such session", error.message)

    async def test_binary_and_large_files_have_no_lines(self) -> None:
        self.write_other("mine", b"\0\1")
        self.write_other("theirs", b"x\n" * trees_module.CONTENT_BYTES)
        self.assertEqual(
            {"mine": ("modified", 0, 0), "theirs": ("modified", 0, 0)}, await self.read_listed()
        )
        self.assertTrue((await self.diff("mine")).file.is_binary)
        self.assertTrue((await self.diff("theirs")).is_cut)

    async def test_comparing_writes_nothing_in_either_working_tree(self) -> None:
        self.write("both", "mine\n")
        self.write_other("both", "rival\n")
        folders = (self.folder, self.other)
        before = [folder_fingerprint(each) for each in folders]
        await self.diff("both")
        self.assertEqual(before, [folder_fingerprint(each) for each in folders])

    async def test_file_that_is_not_listed_cannot_be_read(self) -> None:
        self.write(".gitignore", "secret\n")
        self.write("secret", "x\n")
        self.write_other("secret", "y\n")
        (self.other / ".gitignore").write_text("secret\n")
        await self.refuse(404, self.diff("secret"))
        await self.refuse(404, self.diff("../other/secret"))

    async def test_other_repository_is_refused(self) -> None:
        strange = self.folder.parent / "strange"
        strange.mkdir()
        self.comparer = self.make_comparer(strange)
        await self.refuse(400, self.read())
        run_git(strange, "init", "-q")
        await self.refuse(400, self.read())
        (strange / "x").write_text("x\n")
        run_git(strange, "add", "-A")
        run_git(strange, "commit", "-q", "-m", "strange")
        error = await self.refuse(400, self.read())
        self.assertEqual("base: the session works in another repository", error.message)

    async def test_session_that_the_caller_may_not_see_is_as_one_that_does_not_exist(self) -> None:
        self.write_other("mine", "x\n")
        await self.diff("mine")
        self.sessions.hidden.add(OTHER)
        await self.refuse(400, self.read())
        await self.refuse(400, self.diff("mine"))
        self.assertEqual([], await self.list_candidates())

    async def test_session_of_another_account_is_refused_to_an_admin_too(self) -> None:
        rival = self.sessions.sessions[OTHER]
        self.sessions.sessions[OTHER] = evolve(rival, owner="bob")
        self.world.store.save_start(OTHER, ".", self.start, 1)
        error = await self.refuse(400, self.read())
        self.assertEqual("base: there is no such session", error.message)
        self.assertEqual([], await self.list_candidates())

    async def test_too_many_files_are_refused(self) -> None:
        self.patch(trees_module, "MAX_COMPARED", 2)
        for name in ("a", "b"):
            self.write_other(name, "x\n")
        self.assertEqual(2, len(await self.read_listed()))
        self.write_other("c", "x\n")
        await self.refuse(422, self.read())

    async def list_candidates(self) -> list[str]:
        copy = await self.world.copy()
        return [each.id for each in await self.trees.list_candidates(SESSION_ID, copy, ANN)]

    async def test_sessions_that_began_in_the_repository_are_offered(self) -> None:
        self.assertEqual([], await self.list_candidates())
        self.world.store.save_start(OTHER, ".", "1" * 40, 1)
        self.assertEqual([], await self.list_candidates())
        self.world.store.save_start(OTHER, "inner", self.start, 1)
        self.assertEqual([OTHER], await self.list_candidates())

    async def test_remembered_comparisons_are_bounded(self) -> None:
        self.patch(comparer_module, "MAX_RECENT", 1)
        self.sessions.sessions["s3"] = evolve(self.sessions.sessions[OTHER], id="s3")
        self.copies.copies["s3"] = self.copies.copies[OTHER]
        await self.read()
        third = Sides(base="session:s3")
        await self.comparer.read_changes(SESSION_ID, third, ANN)
        self.assertEqual([third], [key.sides for key in self.comparer._recent])

    async def test_other_operations_do_not_take_a_session_for_a_base(self) -> None:
        self.write("mine", "x\n")
        await self.refuse(400, self.world.diff("mine", f"session:{OTHER}"))
        self.assertTrue(self.comparer.is_needed(SIDES))
        self.assertFalse(self.comparer.is_needed(Sides(base="main")))
        self.assertFalse(self.comparer.is_needed(Sides()))


class TextComparisonTests(SynchronousTestCase):
    """Hunks between two texts."""

    def apply(self, before: bytes, hunks: Sequence[Hunk]) -> bytes:
        """Return the text that the hunks make of another one."""
        lines = before.splitlines(keepends=True)
        found: list[bytes] = []
        at = 0
        for hunk in hunks:
            first = hunk.old_start - (1 if hunk.old_count else 0)
            found += lines[at:first]
            self.assertEqual(len(found), hunk.new_start - (1 if hunk.new_count else 0))
            at = first + hunk.old_count
            olds = [row.old for row in hunk.rows if row.old is not None]
            self.assertEqual([*range(first + 1, at + 1)], olds)
            found += [
                row.raw + (b"" if row.lacks_newline else b"\n")
                for row in hunk.rows
                if row.kind is not RowKind.REMOVED
            ]
        return b"".join(found + lines[at:])

    def test_hunks_make_one_text_of_the_other(self) -> None:
        chance = random.Random(44)
        for _ in range(500):
            before, after = (
                b"".join(b"%d\n" % chance.randrange(6) for _ in range(chance.randrange(30)))
                for _ in range(2)
            )
            if chance.random() < 0.3:
                after = before[:20] + after[:10] + before[20:]
            before += b"end" * (chance.random() < 0.3)
            after += b"end" * (chance.random() < 0.3)
            for context in (0, 3, 1_000_000):
                hunks = compare_texts(before, after, context, "show")
                self.assertEqual(after, self.apply(before, hunks), (before, after, context))
                self.assertEqual(before == after, not hunks)
                self.assertEqual(len(hunks), len({hunk.id for hunk in hunks}))

    def test_white_space_is_ignored_as_asked(self) -> None:
        before, after = b"a b\nc\n", b"a  b\nc \n"
        self.assertEqual(2, len(compare_texts(before, after, 0, "show")[0].rows) // 2)
        self.assertEqual(1, len(compare_texts(before, after, 0, "ignore-end")))
        self.assertEqual([], compare_texts(before, after, 0, "ignore-amount"))
        self.assertEqual([], compare_texts(before, b"ab\nc\n", 0, "ignore"))

    def test_long_texts_are_replaced_as_a_whole(self) -> None:
        lines = [b"%d\n" % number for number in range(COMPARED_LINES + 2)]
        before, after = b"".join(lines), b"".join(reversed(lines))
        (hunk,) = compare_texts(before, after, 3, "show")
        self.assertEqual(2 * len(lines), len(hunk.rows))
        (hunk,) = compare_texts(before, before + b"more\n", 3, "show")
        self.assertEqual(4, len(hunk.rows))
