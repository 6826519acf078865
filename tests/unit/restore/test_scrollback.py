"""What sessions show is kept on disk, within bounds, and shown again (protocol-restore)."""

from __future__ import annotations

import gzip
import os
import re
import stat
from datetime import UTC, datetime
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.callers import GRANTED
from tests.fakes.multiplexer.grid import FakeGrid
from tests.unit.restore.harness import RestoreHarnessCase
from tests.unit.sessions.harness import start_coroutine
from tservice.core.disk.files import FileError
from tservice.core.users.os_users import OsUserId
from tservice.mux.interface import MuxError, PaneCapture
from tservice.restore.scrollback import (
    BYTES,
    LINES,
    SavedScrollback,
    ScrollbackFolder,
    make_preface,
    serialize_rows,
)
from tservice.sessions.record.model import Session

SAVED = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)


def capture(
    *screen: bytes, history: tuple[bytes, ...] = (), main: tuple[bytes, ...] = ()
) -> PaneCapture:
    """A terminal that shows C{screen}."""
    return PaneCapture(
        lines=(*history, *screen),
        history=len(history),
        history_size=len(history),
        cols=80,
        rows=len(screen),
        cursor_x=0,
        cursor_y=0,
        cursor_visible=True,
        alternate_screen=bool(main),
        modes=b"",
        title="",
        offset=0,
        epoch="e",
        main=main,
    )


class ScrollbackRowsTests(SynchronousTestCase):
    def test_history_and_screen_are_saved(self) -> None:
        """Without the empty rows below; colours end with their row."""
        rows = serialize_rows(capture(b"\x1b[31mred", b"still", b"", b" ", history=(b"old", b"")))
        self.assertEqual(b"old\r\n\r\n\x1b[31mred\x1b[0m\r\n\x1b[31mstill\x1b[0m", rows)

    def test_full_screen_program_is_saved_with_its_history(self) -> None:
        """The main screen stands above."""
        rows = serialize_rows(capture(b"editor", history=(b"old",), main=(b"$ edit", b"", b"")))
        self.assertEqual(b"old\r\n$ edit\r\neditor", rows)

    def test_newest_rows_and_bytes_are_kept(self) -> None:
        many = tuple(b"%d" % number for number in range(LINES + 10))
        rows = serialize_rows(capture(b"last", history=many)).split(b"\r\n")
        self.assertEqual((LINES, b"11", b"last"), (len(rows), rows[0], rows[-1]))
        wide = tuple(b"%04d" % number + b"x" * 996 for number in range(4000))
        kept = serialize_rows(capture(b"last", history=wide))
        self.assertLessEqual(len(kept), BYTES)
        self.assertGreater(len(kept), BYTES - 2000)
        self.assertTrue(kept.endswith(b"\r\nlast"))


class PrefaceTests(SynchronousTestCase):
    def shown(
        self, text: bytes, cols: int = 40, height: int = 5
    ) -> tuple[list[bytes], list[bytes]]:
        """History and screen of a terminal that was sent C{text}."""
        grid = FakeGrid(cols, height, 1000)
        grid.feed(text)
        size = grid.get_state().history_size
        lines = [line.rstrip() for line in grid.get_rows(size)]
        return lines[:size], lines[size:]

    def test_preface_ends_with_a_line_about_the_restart(self) -> None:
        history, screen = self.shown(make_preface(b"one\r\ntwo", SAVED, (100, 5), clear=False), 100)
        self.assertEqual([], history)
        self.assertEqual([b"one", b"two"], screen[:2])
        text = screen[2].decode()
        self.assertIn(
            "── the machine restarted; above is what was here until 2026-03-04 05:06 ─", text
        )
        self.assertEqual(100, len(re.sub("\x1b\\[[0-9;]*m", "", text)))

    def test_preface_fits_a_narrow_screen(self) -> None:
        _, screen = self.shown(make_preface(b"one", SAVED, (20, 5), clear=False), 20)
        self.assertEqual([b"one", b""], [screen[0], screen[2]])

    def test_preface_of_an_agent_leaves_its_screen_empty(self) -> None:
        """An old question must not be answered; however much of the screen was written."""
        for count in (0, 1, 3, 4, 5, 30):
            rows = [b"%d. Yes" % number for number in range(count)]
            text = make_preface(b"\r\n".join(rows), SAVED, (80, 5), clear=True)
            history, screen = self.shown(text + b"new", 80)
            self.assertEqual([b"new", b"", b"", b"", b""], screen)
            self.assertEqual(rows or [b""], history[:-1])
            self.assertIn("the machine restarted", history[-1].decode())


class ScrollbackFolderTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.path = Path(self.mktemp()).absolute() / "scrollback"
        self.folder = ScrollbackFolder(self.path)

    def test_scrollback_is_written_read_and_deleted(self) -> None:
        self.assertIsNone(self.folder.read_scrollback("s-1"))
        self.folder.write_scrollback("s-1", b"some rows")
        file = self.path / "s-1.gz"
        os.utime(file, (5, 5))
        self.assertEqual(SavedScrollback(b"some rows", 5.0), self.folder.read_scrollback("s-1"))
        self.assertEqual(
            (True, False), (self.folder.has_scrollback("s-1"), self.folder.has_scrollback("s-2"))
        )
        self.assertEqual(0o600, stat.S_IMODE(file.stat().st_mode))
        self.assertEqual(0o700, stat.S_IMODE(self.path.stat().st_mode))
        self.folder.delete_scrollback("s-1")
        self.folder.delete_scrollback("s-1")
        self.assertIsNone(self.folder.read_scrollback("s-1"))

    def test_scrollbacks_of_other_sessions_are_removed(self) -> None:
        self.folder.delete_others(["s-1"])
        for name in ("s-1", "s-2"):
            self.folder.write_scrollback(name, b"rows")
        (self.path / ".s-1.gz.x.tmp").write_bytes(b"half")
        self.folder.delete_others(["s-1"])
        self.assertEqual(["s-1.gz"], [each.name for each in self.path.iterdir()])

    def test_broken_or_oversized_scrollback_is_refused_or_truncated(self) -> None:
        """Broken, or a bomb: no more than a scrollback comes out of it."""
        self.folder.write_scrollback("s-1", b"rows")
        (self.path / "s-1.gz").write_bytes(b"no gzip")
        with self.assertRaises(FileError):
            self.folder.read_scrollback("s-1")
        (self.path / "s-1.gz").write_bytes(gzip.compress(b"x" * (40 * BYTES)))
        kept = self.folder.read_scrollback("s-1")
        assert kept is not None
        self.assertEqual(BYTES, len(kept.rows))

    def test_other_files_are_not_reached(self) -> None:
        for name in ("../x", "", "A", "."):
            with self.assertRaises(ValueError):
                self.folder.read_scrollback(name)


class SavedTests(RestoreHarnessCase):
    def kept(self, session: Session) -> bytes | None:
        path = self.machine.config.data_dir / "scrollback" / f"{session.id}.gz"
        return gzip.decompress(path.read_bytes()) if path.exists() else None

    def reads(self, session: Session) -> int:
        """Have the pane refuse its next read, and tell whether there was one in a minute."""
        self.pane(session).inject_fault("capture", MuxError("asked"))
        self.spend(60)
        return len(self.pane(session)._faults)

    def test_changed_scrollback_is_saved_once_a_minute(self) -> None:
        shell = self.shell()
        self.spend(59)
        self.assertIsNone(self.kept(shell))
        self.spend(1)
        self.assertEqual(b"$", self.kept(shell))
        self.pane(shell).emit_output(b"more")
        self.spend(59)
        self.assertEqual(b"$", self.kept(shell))
        self.spend(1)
        self.assertEqual(b"$ more", self.kept(shell))
        self.assertEqual(1, self.reads(shell))

    def test_scrollback_is_saved_at_the_stop(self) -> None:
        shell = self.shell()
        self.pane(shell).emit_output(b"last words")
        self.stop()
        self.assertEqual(b"$ last words", self.kept(shell))

    def test_failed_save_is_repeated_in_the_next_minute(self) -> None:
        shell = self.shell()
        self.pane(shell).inject_fault("capture", MuxError("busy"))
        self.spend(60)
        self.assertIsNone(self.kept(shell))
        self.spend(60)
        self.assertEqual(b"$", self.kept(shell))

    def test_switched_off_scrollback_is_deleted_and_not_saved(self) -> None:
        shell = self.shell()
        self.spend(60)
        self.change_settings(keep_scrollback_enabled=False)
        self.crash()
        self.assertIsNone(self.kept(shell))
        self.pane(shell).emit_output(b"secret")
        self.spend(60)
        self.stop()
        self.assertIsNone(self.kept(shell))

    def test_scrollback_is_deleted_with_its_session(self) -> None:
        shell = self.shell()
        self.spend(60)
        self.run_now(self.sessions.delete(shell.id))
        self.assertIsNone(self.kept(shell))

    def test_undeletable_scrollback_is_tolerated(self) -> None:
        """It is said in one line; the session is deleted all the same."""
        shell = self.shell()
        self.spend(60)

        def refuse(folder: ScrollbackFolder, session_id: str) -> None:
            raise OSError(30, "Read-only file system")

        self.patch(ScrollbackFolder, "delete_scrollback", refuse)
        self.run_now(self.sessions.delete(shell.id))
        self.assertEqual([], self.flushLoggedErrors())

    def test_session_deleted_while_saving_keeps_no_scrollback(self) -> None:
        shell = self.shell()
        pane = self.pane(shell)
        pane.stop_answering()
        saving = start_coroutine(self.restore._saver.save_session(shell.id))
        self.machine.sessions._roster.remove(self.sessions.get_live_session(shell.id))
        pane.resume_answering()
        self.successResultOf(saving)
        self.assertIsNone(self.kept(shell))

    def test_session_deleted_while_another_is_saved_keeps_no_scrollback(self) -> None:
        """Of which there is nothing to save, which is no error."""
        slow, gone, last = self.shell(), self.shell(), self.shell()
        self.pane(slow).stop_answering()
        self.spend(60)
        self.run_now(self.sessions.delete(gone.id))
        self.pane(slow).resume_answering()
        self.assertEqual([b"$", None, b"$"], [self.kept(each) for each in (slow, gone, last)])

    def test_unresponsive_location_delays_no_other_scrollback(self) -> None:
        slow, behind, other = self.shell(), self.shell(), self.shell()
        self.sessions.update_record(other.id, os_user=OsUserId(name="ann", uid=1000))
        self.pane(slow).stop_answering()
        self.spend(60)
        self.assertEqual([None, None, b"$"], [self.kept(each) for each in (slow, behind, other)])
        self.pane(slow).resume_answering()
        self.assertEqual(b"$", self.kept(behind))

    def test_restored_shell_shows_its_scrollback_above(self) -> None:
        shell = self.shell()
        self.pane(shell).emit_output(b"\x1b[32mgreen\x1b[0m\r\n$ ")
        self.spend(60)
        self.reboot()
        found = self.bring_back()
        self.assertEqual([True], [each["scrollbackRestored"] for each in found["entries"]])
        reading = self.run_now(
            self.sessions.read_screen(shell.id, full=True, lines=None, tail=None)
        )
        text = reading.data["terminalBuffer"]
        self.assertRegex(text, r"(?s)^\$ \x1b\[[0-9;]*mgreen.*the machine restarted[^\n]*\n\$\r\n")

    def test_restored_agent_shows_its_scrollback_above_the_screen(self) -> None:
        agent = self.agent()
        self.pane(agent).emit_output(b"Do you want to proceed?\r\n")
        self.spend(60)
        self.reboot()
        self.bring_back()
        screen = self.run_now(
            self.sessions.read_screen(agent.id, full=False, lines=None, tail=None)
        )
        self.assertNotIn("proceed", screen.data["terminalBuffer"])
        found = self.run_now(self.sessions.search_history(agent.id, "proceed", 5, nocase=False))
        self.assertEqual(1, len(found["matches"]))

    def test_failed_restore_keeps_the_saved_scrollback(self) -> None:
        """A start that failed leaves what was kept for the next one."""
        agent = self.agent()
        self.pane(agent).emit_output(b"of before")
        self.spend(60)
        before = self.kept(agent)
        self.reboot()
        self.host.start_error = MuxError("no")
        self.bring_back()
        self.spend(120)
        self.assertEqual(before, self.kept(agent))

    def test_ordinary_start_shows_no_scrollback(self) -> None:
        shell = self.shell()
        self.spend(60)
        self.pane(shell).exit_program(0)
        self.run_now(self.sessions.start(shell.id, GRANTED))
        self.assertEqual(b"", self.pane(shell).spec.preface)

    def test_broken_scrollback_does_not_prevent_the_start(self) -> None:
        shell = self.shell()
        self.spend(60)
        path = self.machine.config.data_dir / "scrollback" / f"{shell.id}.gz"
        path.write_bytes(b"nonsense")
        self.reboot()
        found = self.bring_back()
        self.assertEqual([{"sessionId": shell.id, "outcome": "restored"}], found["entries"])
