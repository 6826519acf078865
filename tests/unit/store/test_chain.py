"""Tests for L{tservice.store.chain}: whatever is changed behind its back is found."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any
from unittest import mock

from hypothesis import HealthCheck, given
from hypothesis import settings as tuned
from hypothesis import strategies as st
from twisted.logger import formatEvent, globalLogPublisher
from twisted.trial.unittest import SynchronousTestCase

from tservice.store import chain
from tservice.store.chain import (
    COLUMNS,
    BrokenHead,
    Chain,
    ChainHead,
    ChainVerdict,
    read_head,
    verify,
    write_head,
)
from tservice.store.database import Database

KEY = b"k" * 32
WORDS = {"actor": "ann", "method": "basic", "address": "::1", "action": "a", "target": "t"}


class ChainCase(SynchronousTestCase):
    """Six rows."""

    most = 100

    def setUp(self) -> None:
        self.database = Database.in_memory()
        self.addCleanup(self.database.close)
        self.head = Path(self.mktemp())
        self.chain = self.start()
        self.append(6)

    def start(self) -> Chain:
        return Chain(self.database, KEY, self.head, self.most)

    def append(self, count: int) -> None:
        for _ in range(count):
            self.chain.append(at=5, detail="{}", **WORDS)

    def rows(self) -> list[dict[str, Any]]:
        found = self.database.query("SELECT * FROM audit_log ORDER BY seq")
        return [dict(row) for row in found]

    def verdict(self, rows: list[dict[str, Any]] | None = None, key: bytes = KEY) -> ChainVerdict:
        return verify(self.rows() if rows is None else rows, read_head(self.head, KEY), key)

    def fault(self, rows: list[dict[str, Any]] | None = None) -> str:
        found = self.verdict(rows).fault
        assert found is not None
        return found


class VerifyTests(ChainCase):
    def test_in_order(self) -> None:
        self.assertEqual(ChainVerdict(rows=6), self.verdict())

    def test_another_key(self) -> None:
        self.assertEqual("row 1 was changed", self.verdict(key=b"x" * 32).fault)

    def test_a_row_taken_out(self) -> None:
        for number in range(5):
            rows = self.rows()
            del rows[number]
            self.assertIn(f"{number + 1}", self.fault(rows))

    def test_the_end_cut_off(self) -> None:
        self.assertEqual("rows 6 to 6 are missing at the end", self.fault(self.rows()[:-1]))
        self.assertEqual("rows 1 to 6 are missing at the end", self.fault([]))

    def test_rows_swapped_or_said_twice(self) -> None:
        rows = self.rows()
        self.fault([rows[1], rows[0], *rows[2:]])
        self.fault([rows[0], *rows])
        self.fault([*rows[:3], {**rows[4], "seq": 4}, *rows[4:]])

    def test_a_row_put_at_the_end(self) -> None:
        rows = self.rows()
        self.fault([*rows, {**rows[-1], "seq": 7}])

    @tuned(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
    @given(st.integers(0, 5), st.sampled_from([*COLUMNS, "hash"]), st.data())
    def test_any_change_is_found(self, number: int, column: str, data: st.DataObject) -> None:
        """Of any value, at any place: one character or byte more, less or other."""
        rows = self.rows()
        old = rows[number][column]
        if isinstance(old, int):
            new: Any = data.draw(st.integers(0, 10).filter(lambda n: n != old))
        elif isinstance(old, str):
            new = data.draw(st.text(max_size=8).filter(lambda t: t != old))
        else:
            place = data.draw(st.integers(0, len(old) - 1))
            new = old[:place] + bytes([old[place] ^ data.draw(st.integers(1, 255))])
            new += old[place + 1 :]
        rows[number][column] = new
        self.fault(rows)

    def test_words_do_not_flow_into_each_other(self) -> None:
        rows = self.rows()
        rows[2]["actor"], rows[2]["method"] = "an", "nbasic"
        self.assertEqual("row 3 was changed", self.fault(rows))


class HeadTests(ChainCase):
    def test_any_byte(self) -> None:
        text = self.head.read_bytes().rstrip()
        for place in range(len(text)):
            changed = bytearray(text)
            changed[place] ^= 1
            self.head.write_bytes(changed)
            try:
                found = read_head(self.head, KEY)
            except BrokenHead:
                continue
            self.fail(f"byte {place}: {found}")

    def test_missing_open_or_of_another_key(self) -> None:
        self.assertRaises(BrokenHead, read_head, self.head, b"x" * 32)
        self.head.chmod(0o644)
        self.assertRaises(BrokenHead, read_head, self.head, KEY)
        self.head.unlink()
        self.assertRaises(BrokenHead, read_head, self.head, KEY)

    def test_a_disk_that_takes_none_is_told_once(self) -> None:
        """Each row asks for one, and the log may be on that disk."""
        logged: list[Any] = []
        observer: Any = logged.append
        globalLogPublisher.addObserver(observer)
        self.addCleanup(globalLogPublisher.removeObserver, observer)
        full = OSError(errno.ENOSPC, "No space left on device")
        for _ in range(2):
            with mock.patch.object(chain, "write_head", side_effect=full):
                self.append(20)
            self.append(1)
            self.assertEqual(self.chain.newest, read_head(self.head, KEY).newest.seq)
        told = [formatEvent(event) for event in logged]
        self.assertEqual([f"{self.head.name}: No space left on device"] * 2, told)

    def test_odd_content(self) -> None:
        for content in ("", "[]", "{}", json.dumps({"anchor": [1], "newest": 3, "mac": "zz"})):
            self.head.write_text(content)
            self.assertRaises(BrokenHead, read_head, self.head, KEY)


class RestartTests(ChainCase):
    def test_goes_on(self) -> None:
        self.chain = self.start()
        self.assertIsNone(self.chain.fault)
        self.append(2)
        self.assertEqual(ChainVerdict(rows=8), self.verdict())

    def test_killed_between_the_row_and_the_head(self) -> None:
        before = self.head.read_bytes()
        self.append(1)
        self.head.write_bytes(before)
        self.assertEqual(ChainVerdict(rows=7), self.verdict())
        self.chain = self.start()
        self.assertIsNone(self.chain.fault)
        self.append(1)
        self.assertEqual(ChainVerdict(rows=8), self.verdict())

    def test_a_cut_stays_visible(self) -> None:
        self.database.execute("DELETE FROM audit_log WHERE seq > 4")
        self.chain = self.start()
        self.assertIsNotNone(self.chain.fault)
        self.append(3)
        self.assertEqual("rows 5 to 6 are missing", self.fault())

    def test_all_cut(self) -> None:
        self.database.execute("DELETE FROM audit_log")
        self.chain = self.start()
        self.append(1)
        self.assertEqual("rows 1 to 6 are missing", self.fault())

    def test_a_lost_head_is_told(self) -> None:
        self.head.unlink()
        self.assertIsNotNone(self.start().fault)

    def test_a_new_one_is_in_order(self) -> None:
        database = Database.in_memory()
        self.addCleanup(database.close)
        chain = Chain(database, KEY, Path(self.mktemp()), 5)
        self.assertIsNone(chain.fault)
        self.assertEqual(0, chain.newest)


class RetentionTests(ChainCase):
    most = 10

    def test_the_oldest_go(self) -> None:
        for _ in range(50):
            self.append(1)
            self.assertIsNone(self.verdict().fault)
            self.assertLessEqual(len(self.rows()), self.most)
        self.assertEqual(56, self.chain.newest)
        self.assertGreaterEqual(len(self.rows()), self.most - 1)

    def test_killed_before_they_went(self) -> None:
        rows = self.rows()
        self.append(5)
        for row in rows[:1]:
            names = ", ".join(row)
            marks = ", ".join(f":{name}" for name in row)
            self.database.execute(f"INSERT INTO audit_log ({names}) VALUES ({marks})", row)
        self.assertIsNone(self.verdict().fault)
        self.start()
        self.assertNotIn(1, [row["seq"] for row in self.rows()])

    def test_more_let_go_than_the_head_says(self) -> None:
        self.append(10)
        self.database.execute("DELETE FROM audit_log WHERE seq <= 9")
        self.assertIn("missing", self.fault())

    def test_an_anchor_of_one_s_own_needs_the_key(self) -> None:
        write_head(self.head, ChainHead(), b"x" * 32)
        self.assertRaises(BrokenHead, read_head, self.head, KEY)
