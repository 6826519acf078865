"""Reading what git prints."""

from __future__ import annotations

import contextlib

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tservice.git.model import MAX_FILES, ChangeKind, UnpushedCommit, to_display_text
from tservice.git.status.commits import parse_commits, parse_count
from tservice.git.status.porcelain import RECORD_LIMIT, GitOutputError, StatusParser

HASH = b"0" * 40
PATHS = st.binary(min_size=1, max_size=40).filter(lambda path: b"\0" not in path)
LETTERS = st.sampled_from([".M", "M.", "MM", "A.", "D.", ".D", "AM", "T."])


def ordinary(letters: str, path: bytes) -> bytes:
    return b"1 %s N... 100644 100644 100644 %s %s %s" % (letters.encode(), HASH, HASH, path)


def renamed(letters: str, path: bytes, old: bytes) -> bytes:
    words = (letters.encode(), HASH, HASH, path, old)
    return b"2 %s N... 100644 100644 100644 %s %s R100 %s\0%s" % words


def unmerged(path: bytes) -> bytes:
    return b"u UU N... 100644 100644 100644 100644 %s %s %s %s" % (HASH, HASH, HASH, path)


def parse(data: bytes, step: int = 1 << 20) -> StatusParser:
    parser = StatusParser()
    for start in range(0, len(data), step):
        parser.feed_bytes(data[start : start + step])
    return parser


class StatusParserTests(SynchronousTestCase):
    """Every record of the porcelain, in pieces of any size."""

    @settings(deadline=None)
    @given(
        st.lists(st.tuples(LETTERS, PATHS), max_size=20, unique_by=lambda row: row[1]),
        st.lists(PATHS, max_size=10, unique=True),
        st.lists(PATHS, max_size=5, unique=True),
        st.integers(1, 50),
    )
    def test_counts_and_changed_files_are_parsed(
        self,
        tracked: list[tuple[str, bytes]],
        untracked: list[bytes],
        conflicts: list[bytes],
        step: int,
    ) -> None:
        records = [ordinary(letters, path) for letters, path in tracked]
        records += [unmerged(path) for path in conflicts]
        records += [b"? " + path for path in untracked]
        tree = parse(b"".join(record + b"\0" for record in records), step).finish_input()
        staged = [path for letters, path in tracked if letters[0] != "."]
        unstaged = [path for letters, path in tracked if letters[1] != "."]
        by_kind = {kind: [c.path for c in tree.files if c.kind is kind] for kind in ChangeKind}
        self.assertEqual(
            {
                ChangeKind.STAGED: staged,
                ChangeKind.UNSTAGED: unstaged,
                ChangeKind.UNTRACKED: untracked,
                ChangeKind.CONFLICTED: conflicts,
            },
            by_kind,
        )
        gone = {path for letters, path in tracked if letters == "D."}
        distinct = len(tracked) + len(conflicts) + len(set(untracked) - gone)
        self.assertEqual(distinct, tree.counts.uncommitted)
        self.assertEqual((len(staged), len(unstaged)), (tree.counts.staged, tree.counts.unstaged))

    @settings(deadline=None)
    @given(st.binary(max_size=200))
    def test_any_status_is_parsed_or_refused(self, data: bytes) -> None:
        try:
            tree = parse(data).finish_input()
        except GitOutputError:
            return
        self.assertLessEqual(len(tree.files), MAX_FILES)

    @settings(deadline=None)
    @given(PATHS, PATHS, st.integers(1, 30))
    def test_rename_has_old_and_new_path(self, path: bytes, old: bytes, step: int) -> None:
        [change] = parse(renamed("R.", path, old) + b"\0", step).finish_input().files
        self.assertEqual((path, old, "R", "."), (change.path, change.original, *"R."))
        self.assertEqual(to_display_text(old), change.to_wire()["origPath"])

    def test_branch_headers_are_parsed(self) -> None:
        data = (
            b"# branch.oid " + HASH + b"\0# branch.head main\0# branch.upstream origin/main\0"
            b"# branch.ab +3 -4\0# stash 5\0# branch.news 1\0"
        )
        tree = parse(data).finish_input()
        head = tree.head
        self.assertEqual(("main", False, False), (head.branch, head.detached, head.unborn))
        self.assertEqual(("origin/main", 3, 4), (head.upstream, head.ahead, head.behind))
        self.assertEqual(HASH.decode(), head.commit)
        self.assertEqual(5, tree.counts.stashes)

    def test_detached_and_unborn_heads_are_parsed(self) -> None:
        head = parse(b"# branch.oid (initial)\0# branch.head (detached)\0").finish_input().head
        self.assertEqual((None, True, True), (head.branch, head.detached, head.unborn))
        self.assertIsNone(head.commit)

    def test_git_status_lists_are_bounded_and_counts_exact(self) -> None:
        data = b"".join(b"? %d\0" % number for number in range(5 * MAX_FILES))
        data += unmerged(b"last") + b"\0"
        tree = parse(data, 1000).finish_input()
        self.assertEqual(MAX_FILES, len(tree.files))
        self.assertTrue(tree.truncated)
        self.assertEqual(ChangeKind.CONFLICTED, tree.files[0].kind, "conflicts are never cut off")
        self.assertEqual(5 * MAX_FILES + 1, tree.counts.uncommitted)

    def test_list_at_the_bound_is_not_truncated(self) -> None:
        tree = parse(b"".join(b"? %d\0" % number for number in range(MAX_FILES))).finish_input()
        self.assertEqual((MAX_FILES, False), (len(tree.files), tree.truncated))

    def test_broken_status_is_refused(self) -> None:
        broken = (
            b"? x",
            renamed("R.", b"a", b"b"),
            b"x y\0",
            b"1 M. short\0",
            b"# branch.ab +? -?\0",
            b"# stash many\0",
            b"?" * (RECORD_LIMIT + 1),
        )
        for data in broken:
            with self.assertRaises(GitOutputError, msg=repr(data[:40])):
                parse(data).finish_input()


class CommitListTests(SynchronousTestCase):
    """What C{rev-list} prints."""

    @settings(deadline=None)
    @given(
        st.lists(
            st.tuples(
                st.text(alphabet=st.characters(exclude_characters="\0\n", codec="utf-8")),
                st.integers(0, 1 << 40),
                st.text(alphabet=st.characters(exclude_characters="\0\n", codec="utf-8")),
            ),
            max_size=5,
        )
    )
    def test_commits_round_trip(self, rows: list[tuple[str, int, str]]) -> None:
        output = b"".join(
            b"commit %s\n%s\0%d\0%s\n" % (HASH, author.encode(), when, subject.encode())
            for author, when, subject in rows
        )
        wanted = tuple(
            UnpushedCommit(hash=HASH.decode(), author=author, time=when, subject=subject)
            for author, when, subject in rows
        )
        self.assertEqual(wanted, parse_commits(output))

    @settings(deadline=None)
    @given(st.binary(max_size=100))
    def test_any_commit_list_is_parsed_or_refused(self, data: bytes) -> None:
        with contextlib.suppress(GitOutputError):
            self.assertIsInstance(parse_commits(data), tuple)

    def test_odd_bytes_and_long_lines_are_cleaned(self) -> None:
        [commit] = parse_commits(b"commit %s\nb\xe9\0x\0%s\n" % (HASH, b"s" * 5000))
        self.assertEqual(("b\ufffd", 0, 1000), (commit.author, commit.time, len(commit.subject)))

    def test_broken_commit_list_is_refused(self) -> None:
        for data in (b"commit x\n", b"commit x\na\0b\n", b"other x\na\0001\0b\n", b"commit x\na"):
            with self.assertRaises(GitOutputError, msg=repr(data)):
                parse_commits(data)

    def test_commit_count_is_parsed(self) -> None:
        self.assertEqual(12, parse_count(b"12\n"))
        self.assertRaises(GitOutputError, parse_count, b"")
