"""C{tsctl attach} in a real pty, on the real daemon, with the connection cut."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import struct
import subprocess
import termios
import time
from pathlib import Path

from tests.integration.harness import PATIENCE
from tests.integration.tsctl import TSCTL, CuttableRelay, TsctlCase
from tests.waiting import wait_until
from tservice.client.terminal.filter import RESTORE

MODES_BACK = b"\x1b[?25h"


class TsctlTerminal:
    """A command in a terminal of its own."""

    def __init__(self, argv: tuple[str, ...], env: dict[str, str]) -> None:
        self.master, self.slave = os.openpty()
        self.resize(100, 30)
        self.before = termios.tcgetattr(self.slave)
        self.seen = b""
        # Its controlling terminal too, so that it hears of the window.
        self.process = subprocess.Popen(
            ("setsid", "--ctty", *argv),
            env=env,
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
        )

    def resize(self, cols: int, rows: int) -> None:
        """Change the window; who is in it is told."""
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def type(self, data: bytes) -> None:
        """Press keys."""
        os.write(self.master, data)

    def wait_for(self, text: bytes) -> bytes:
        """What came up to and with C{text}, which is then forgotten."""
        while text not in self.seen:
            self._read(f"no {text!r}")
        before, _, self.seen = self.seen.partition(text)
        return before + text

    def wait_for_raw(self) -> None:
        """Until keys are no longer the terminal's own business."""
        while termios.tcgetattr(self.slave)[3] & termios.ICANON:
            self._read("the terminal is not raw")

    def shows(self, text: bytes) -> None:
        """Wait until C{text} has come, which is kept: a terminal passes on in its own time."""
        while text not in self.seen:
            self._read(f"no {text!r}")

    def ended(self) -> int:
        """The exit status; what it printed meanwhile is read, as a terminal would."""
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            if time.monotonic() > end:
                raise AssertionError(f"it goes on behind {self.seen[-2000:]!r}")
            with contextlib.suppress(AssertionError):
                self._read("nothing", 0.05)
        return self.process.returncode

    def close(self) -> None:
        """Hang up."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE)
        os.close(self.slave)
        os.close(self.master)

    def _read(self, what: str, patience: float = PATIENCE) -> None:
        if not select.select([self.master], [], [], patience)[0]:
            raise AssertionError(f"{what} behind {self.seen[-2000:]!r}")
        self.seen += os.read(self.master, 65536)


class TsctlAttachTests(TsctlCase):
    def setUp(self) -> None:
        super().setUp()
        self.session = self.shell()

    def attach(self, *words: str, **environ: str) -> TsctlTerminal:
        terminal = TsctlTerminal(
            (*TSCTL, "attach", "one", *words), self.environ(TERM="xterm-256color", **environ)
        )
        self.addCleanup(terminal.close)
        return terminal

    def attached(self, *words: str, **environ: str) -> TsctlTerminal:
        terminal = self.attach(*words, **environ)
        terminal.wait_for(b"ready-42")
        terminal.wait_for_raw()
        return terminal

    def assert_restored(self, terminal: TsctlTerminal) -> None:
        self.assertEqual(terminal.before, termios.tcgetattr(terminal.slave))
        terminal.shows(MODES_BACK)

    def test_attached_terminal_types_resizes_and_detaches(self) -> None:
        """The window's size is the session's, also after it changed."""
        terminal = self.attached()
        self.see_size(100, 30)
        terminal.type(b"stty size\r")
        terminal.wait_for(b"30 100")
        terminal.resize(90, 25)
        self.see_size(90, 25)
        terminal.type("echo ä-$((1+1))\r".encode())
        terminal.wait_for("ä-2".encode())
        terminal.type(b"\x1cd")
        self.assertEqual(0, terminal.ended())
        terminal.shows(b"detached from one")
        self.assert_restored(terminal)
        self.assertIsNotNone(self.json("ls")[0]["pid"])

    def see_size(self, cols: int, rows: int) -> None:
        def look() -> bool:
            session = self.service.request("GET", f"/api/sessions/{self.session}").data()
            return (session["cols"], session["rows"]) == (cols, rows)

        wait_until(f"{cols}x{rows}", look)

    def test_detach_prefix_is_typed_by_pressing_it_twice(self) -> None:
        terminal = self.attached()
        # Its echo comes while the shell still takes keys as its own.
        terminal.type(b"echo cat-$((1+1)); cat -v\r")
        terminal.wait_for(b"cat-2")
        terminal.type(b"\x16\x1c\x1c.\r")
        terminal.wait_for(b"^\\.")
        terminal.type(b"\x04")
        terminal.type(b"exit 7\r")
        self.assertEqual(0, terminal.ended())
        terminal.shows(b"the process ended")
        self.assert_restored(terminal)

    def test_read_only_attach_types_nothing_and_keeps_the_size(self) -> None:
        size = [(one["cols"], one["rows"]) for one in self.json("ls")]
        terminal = self.attached("--read-only", "--detach-keys", "Ctrl-]")
        terminal.type(b"echo typed-$((1+1))\r")
        self.tsctl("send", "one", "echo sent-$((1+1))")
        terminal.wait_for(b"sent-2")
        terminal.type(b"\x1d")
        self.assertEqual(0, terminal.ended())
        self.assertNotIn("typed-", self.tsctl("read", "one", "--full"))
        self.assertEqual(size, [(one["cols"], one["rows"]) for one in self.json("ls")])

    def test_signals_end_attach_and_restore_the_terminal(self) -> None:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            terminal = self.attached()
            terminal.process.send_signal(number)
            self.assertEqual(128 + number, terminal.ended())
            self.assert_restored(terminal)

    def test_killed_attach_leaves_a_restored_terminal(self) -> None:
        """Nothing of the program is left that could tidy up; somebody else does."""
        terminal = self.attached()
        terminal.type(b"printf '\\033[?1000h<%s>' done\r")
        terminal.wait_for(b"<done>")
        terminal.process.kill()
        self.assertEqual(-signal.SIGKILL, terminal.process.wait(PATIENCE))
        terminal.wait_for(RESTORE)
        self.assertEqual(terminal.before, termios.tcgetattr(terminal.slave))

    def test_attach_over_a_cut_connection_neither_loses_nor_repeats_output(self) -> None:
        """The connection is cut again and again while thousands of numbers come."""
        relay = CuttableRelay(self.service.url)
        self.addCleanup(relay.close)
        terminal = self.attached(TSCTL_URL=relay.url)
        gate = self.service.home / "gate"
        # Stage by stage, or all of it might be on its way before the first cut.
        wait = f"until [ -e {gate}-$s ]; do sleep 0.05; done"
        stage = f'{wait}; for n in $(seq $((s+1)) $((s+2000))); do echo "<$n>"; done'
        line = f"for s in $(seq 0 2000 18000); do {stage}; done; echo end-$((1+1))\r"
        terminal.type(line.encode())
        terminal.wait_for(b"end-$((1+1))")
        seen = b""
        for start in range(0, 20_000, 2_000):
            Path(f"{gate}-{start}").touch()
            # What comes, comes by a connection that stands.
            seen += terminal.wait_for(b"<%d>\r\n" % (start + 500))
            self.assertGreater(relay.cut(), 0)
            seen += terminal.wait_for(b"<%d>\r\n" % (start + 2000))
        seen += terminal.wait_for(b"end-2")
        want = b"".join(b"<%d>\r\n" % number for number in range(1, 20001))
        plain = seen.replace(b"\x1b[22;2t", b"").replace(b"\x1b[23;2t", b"")
        plain = plain.replace(LOST_TITLE, b"")
        self.assertIn(want, plain)

    def test_text_typed_while_disconnected_arrives_once(self) -> None:
        terminal = self.attached()
        self.service.stop()
        terminal.wait_for(b"connection lost")
        terminal.type(b"echo late-$((1+1))\r")
        self.service.start(listen=(self.port.endpoint,))
        terminal.wait_for(b"late-2\r\n")
        self.assertEqual(1, self.tsctl("read", "one", "--full").splitlines().count("late-2"))
        self.service.stop()
        terminal.wait_for(b"connection lost")
        terminal.type(b"\x1cd")
        self.assertEqual(0, terminal.ended())
        self.assert_restored(terminal)

    def test_attached_output_cannot_query_the_terminal_or_set_the_clipboard(self) -> None:
        terminal = self.attached()
        terminal.type(b"printf '\\033[6n\\033]52;c;QUFB\\007\\033[>1u<%s>' done\r")
        found = terminal.wait_for(b"<done>")
        for sequence in (b"\x1b[6n", b"\x1b]52", b"\x1b[>1u"):
            self.assertNotIn(sequence, found)

    def test_attach_is_refused_without_terminal_or_session(self) -> None:
        self.assertIn("attach needs a terminal", self.fails("attach", "one"))
        self.assertIn("--detach-keys", self.fails("attach", "one", "--detach-keys", "x"))
        self.tsctl("kill", "one")
        terminal = self.attach()
        self.assertEqual(2, terminal.ended())
        terminal.shows(b"tsctl: no session matches 'one'")
        self.assertEqual(terminal.before, termios.tcgetattr(terminal.slave))

    def test_attach_ends_when_its_session_is_removed(self) -> None:
        terminal = self.attached()
        self.tsctl("kill", "one")
        self.assertEqual(0, terminal.ended())
        self.assert_restored(terminal)


LOST_TITLE = b"\x1b]2;tsctl: connection lost, connecting again\x1b\\"
