"""Databases made to harm whoever reads them: they harm a child, for a bounded time."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from pathlib import Path
from unittest import skipUnless

from twisted.trial.unittest import SynchronousTestCase

from tests.unit.agents.transcripts.transcript_samples import make_database
from tservice.agents.transcripts.conversation_access import read_messages, read_new_messages
from tservice.agents.transcripts.conversation_stores import scan_conversations
from tservice.agents.transcripts.model import ReadPosition
from tservice.agents.transcripts.sqlite import rows as transcript_rows
from tservice.agents.transcripts.sqlite.rows import DatabaseReader, open_reader, reuse_readers
from tservice.core.users.file_identity import call_as_user, get_acting_ids
from tservice.core.users.os_users import OsUser

ID = "ses_dfdff04dcffeRkFTm0FqI7aA1a"
FOREVER = "instr(zeroblob(7000000) || x'01', zeroblob(3000000) || x'0102')"
"""One instruction of the database's machine, and hours of the processor's."""
NOBODY = 65534


class TranscriptRowsTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.database = Path(self.mktemp()).absolute() / "opencode.db"

    def listed(self) -> list[str]:
        return [found.path.name for found in scan_conversations(self.database, "opencode")]

    def view(self, select: str) -> None:
        self.database.parent.mkdir()
        rows = sqlite3.connect(self.database)
        rows.execute(f"CREATE VIEW session AS {select}")
        rows.close()

    def test_endless_database_instruction_is_given_up(self) -> None:
        self.patch(transcript_rows, "ANSWER_SECONDS", 0.5)
        self.view(f"SELECT 'ses_1' AS id, {FOREVER} AS time_updated, NULL AS parent_id")
        self.assertEqual([], self.listed())

    def test_database_that_timed_out_is_not_asked_again(self) -> None:
        self.patch(transcript_rows, "ANSWER_SECONDS", 0.5)
        self.view(f"SELECT 'ses_1' AS id, {FOREVER} AS time_updated, NULL AS parent_id")

        def ask() -> list[str]:
            said = []
            for _ in range(3):
                with open_reader(self.database) as rows:
                    said.append(
                        str(self.assertRaises(OSError, rows.run_query, "SELECT * FROM session"))
                    )
            return said

        said = reuse_readers(ask)()
        self.assertEqual([f"{self.database}: took too long"] * 3, said)

    def test_pipe_next_to_the_database_is_not_waited_for(self) -> None:
        make_database(self.database)
        for name in ("-journal", "-wal", "-shm"):
            pipe = Path(f"{self.database}{name}")
            os.mkfifo(pipe)
            self.assertEqual([], self.listed(), name)
            pipe.unlink()
        self.assertEqual([ID], self.listed())

    def test_oversized_database_answer_is_refused(self) -> None:
        self.patch(transcript_rows, "ANSWER_LIMIT", 1000)
        text = "json_object('type', 'text', 'text', hex(zeroblob(2000)))"
        make_database(self.database, f"UPDATE part SET data = {text}")
        self.assertRaises(OSError, read_messages, self.database / ID, "opencode")

    def test_write_ahead_log_in_use_is_read(self) -> None:
        """As opencode keeps it, while opencode has it open."""
        make_database(self.database)
        writer = sqlite3.connect(self.database)
        self.addCleanup(writer.close)
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("UPDATE session SET directory = '/elsewhere'")
        writer.commit()
        place = read_new_messages(ReadPosition(path=""), self.database / ID, "opencode")
        self.assertEqual("/elsewhere", place.tally.cwd)

    def test_readings_of_one_task_share_one_child_process(self) -> None:
        make_database(self.database)
        made: list[DatabaseReader] = []

        def ask() -> None:
            for _ in range(3):
                with open_reader(self.database) as rows:
                    made.append(rows)
                    self.assertEqual(
                        [ID], [row["id"] for row in rows.run_query("SELECT id FROM session")]
                    )

        reuse_readers(ask)()
        self.assertEqual(1, len(set(map(id, made))))
        self.assertRaises(OSError, made[0].run_query, "SELECT id FROM session")

    def test_failed_query_leaves_the_connection_usable(self) -> None:
        make_database(self.database)
        with open_reader(self.database) as rows:
            self.assertRaises(OSError, rows.run_query, "SELECT nothing FROM session")
            self.assertEqual([{"1": 1}], rows.run_query("SELECT 1"))

    @skipUnless(os.geteuid() == 0, "only root can act as another user")
    def test_database_is_read_with_the_rights_of_the_os_user(self) -> None:
        folder = Path(tempfile.mkdtemp())  # which that user can reach
        self.addCleanup(shutil.rmtree, folder)
        folder.chmod(0o755)
        self.database = make_database(folder / "opencode.db")
        self.database.chmod(0o600)
        user = OsUser(
            name="nobody", uid=NOBODY, gid=NOBODY, groups=(), home=Path("/"), shell="/bin/sh"
        )
        self.assertEqual([], call_as_user(user, self.listed))
        os.chown(self.database, NOBODY, NOBODY)
        self.assertEqual([ID], call_as_user(user, self.listed))
        self.assertEqual((NOBODY, NOBODY), call_as_user(user, self.who_reads))
        self.assertIsNone(get_acting_ids())

    def who_reads(self) -> tuple[int, int]:
        """The user and group of a child that is asked nothing."""
        rows = DatabaseReader(self.database)
        try:
            with self.assertRaises(OSError):
                rows.run_query("SELECT 1 FROM nothing")
            status = Path(f"/proc/{rows._child.pid}/status").read_text()
        finally:
            rows.close()
        words = {line.partition(":")[0]: line.split()[1:] for line in status.splitlines()}
        self.assertEqual(1, len({*words["Uid"], *words["Gid"]}))
        return int(words["Uid"][0]), int(words["Gid"][0])
