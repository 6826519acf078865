"""Bounds of the files that are kept from the ends of turns."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tests.unit.review.review_harness import SESSION_ID, add_session_row
from tservice.review.turns import store as store_module
from tservice.review.turns.store import (
    MAX_TURNS,
    TURN_MS,
    RecordedFile,
    RecordedTree,
    TurnStore,
    compress_content,
)
from tservice.store.database import Database

TABLES = ("review_turns", "review_turn_files", "review_turn_contents")


def make_tree(*hashes: str, repo: str = ".") -> RecordedTree:
    files = (RecordedFile(path=b"f%d" % n, mode="100644", hash=h) for n, h in enumerate(hashes))
    return RecordedTree(repo=repo, commit="c", files=tuple(files))


class TurnStoreTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.database = Database.open_in_memory()
        self.addCleanup(self.database.close)
        add_session_row(self.database)
        self.store = TurnStore(self.database)

    def save(self, at: int, *hashes: str, session_id: str = SESSION_ID) -> None:
        contents = {hash_: compress_content(hash_.encode()) for hash_ in hashes}
        self.store.save_turn(session_id, at, [make_tree(*hashes)], contents)

    def count_rows(self) -> list[int]:
        queries = [f"SELECT count(*) AS n FROM {table}" for table in TABLES]
        return [self.database.query_rows(sql)[0]["n"] for sql in queries]

    def test_turn_is_as_it_was_saved(self) -> None:
        trees = [make_tree("a", "b"), make_tree(repo="inner")]
        self.store.save_turn(SESSION_ID, 1, trees, {"a": compress_content(b"A")})
        self.assertEqual(trees, self.store.list_trees(SESSION_ID, 1))
        self.assertEqual([], self.store.list_trees(SESSION_ID, 2))
        content = self.store.find_content(SESSION_ID, "a")
        assert content is not None
        self.assertEqual((1, b"A"), (content.size, content.decompress()))
        self.assertIsNone(self.store.find_content(SESSION_ID, "b"))

    def test_same_content_is_kept_once(self) -> None:
        self.save(1, "a", "b")
        self.save(2, "a")
        self.assertEqual([2, 3, 2], self.count_rows())
        self.assertEqual([2, 1], self.store.list_turns(SESSION_ID, "."))

    def test_turns_of_a_session_are_bounded(self) -> None:
        for at in range(MAX_TURNS + 2):
            self.save(at, str(at), "always")
        self.assertEqual([MAX_TURNS, 2 * MAX_TURNS, MAX_TURNS + 1], self.count_rows())
        turns = self.store.list_turns(SESSION_ID, ".")
        self.assertEqual([MAX_TURNS + 1, 2], [turns[0], turns[-1]])

    def test_old_turns_of_all_sessions_are_dropped(self) -> None:
        add_session_row(self.database, "s2")
        self.save(1, "a", session_id="s2")
        self.save(2, "b")
        self.save(TURN_MS + 2, "c")
        self.assertEqual([], self.store.list_turns("s2", "."))
        self.assertEqual([TURN_MS + 2, 2], self.store.list_turns(SESSION_ID, "."))
        self.assertEqual([2, 2, 2], self.count_rows())

    def test_bytes_of_all_sessions_are_bounded(self) -> None:
        add_session_row(self.database, "s2")
        self.save(1, "a", session_id="s2")
        self.save(2, "b")
        self.patch(store_module, "TOTAL_BYTES", 2 * len(compress_content(b"x").data))
        self.save(3, "c")
        self.assertEqual([], self.store.list_turns("s2", "."))
        self.assertEqual([3, 2], self.store.list_turns(SESSION_ID, "."))
        self.patch(store_module, "TOTAL_BYTES", 0)
        self.save(4, "d")
        self.assertEqual([4], self.store.list_turns(SESSION_ID, "."))
        self.assertEqual([1, 1, 1], self.count_rows())

    def test_turns_are_removed_with_the_session(self) -> None:
        self.save(1, "a")
        self.database.execute("DELETE FROM sessions WHERE id = ?", (SESSION_ID,))
        self.assertEqual([0, 0, 0], self.count_rows())
        self.save(2, "b")
        self.assertEqual([0, 0, 0], self.count_rows())
