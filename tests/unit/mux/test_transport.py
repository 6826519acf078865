"""Gone, here and unknown; where the sockets are."""

from __future__ import annotations

import errno
import fcntl
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from tservice.mux.interface import Liveness, MuxError
from tservice.mux.local_transport import LocalTransport
from tservice.mux.tmux.sockets import SocketFolder
from tservice.mux.transport import HeldProcess, ServerReachability

_T = TypeVar("_T")


class TransportTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="ts-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = self.folder / "s.sock"
        self.transport = LocalTransport("/usr/bin/tmux", "/usr/bin/setpriv")

    def now(self, work: Coroutine[Any, Any, _T]) -> _T:
        """The answer of a transport that need not wait."""
        found: _T = self.successResultOf(Deferred.fromCoroutine(work))
        return found

    def refused(self, work: Coroutine[Any, Any, None], why: str = "") -> None:
        failure = self.failureResultOf(Deferred.fromCoroutine(work), MuxError)
        self.assertIn(why, str(failure.value))

    def reach(self) -> ServerReachability:
        return self.now(self.transport.check_reachability(self.path))

    def hold(self, pid: int) -> HeldProcess | None:
        return self.now(self.transport.acquire_process(pid))

    def hold_server(self, path: Path) -> HeldProcess | None:
        return self.now(self.transport.acquire_server(path))

    def test_process_of_another_user_is_probed_and_not_signalled(self) -> None:
        """It became root by sudo, or the pane's program has put its number down."""

        def refused(descriptor: int, number: int) -> None:
            raise PermissionError

        self.patch(signal, "pidfd_send_signal", refused)
        held = self.hold(os.getpid())
        assert held is not None
        self.addCleanup(held.close)
        self.now(held.send_hangup())
        self.now(held.kill())
        self.assertIs(Liveness.ALIVE, self.now(held.get_liveness()))

    def test_socket_without_a_listener_is_gone(self) -> None:
        self.assertIs(ServerReachability.GONE, self.reach())
        with socket.socket(socket.AF_UNIX) as stale:
            stale.bind(str(self.path))
        self.assertIs(ServerReachability.GONE, self.reach())

    def test_listening_socket_is_reachable_unless_its_queue_is_full(self) -> None:
        """A full queue of connections is neither yes nor no."""
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(self.path))
            server.listen(0)
            self.assertIs(ServerReachability.HERE, self.reach())
            self.assertIs(ServerReachability.UNKNOWN, self.reach())

    def test_path_that_is_no_socket_is_gone(self) -> None:
        """What runs in the pane may have put it there, as a link to somebody else's server."""
        other = self.folder / "other.sock"
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(other))
            server.listen()
            for put in (
                lambda: self.path.symlink_to(other),
                lambda: self.path.symlink_to(self.path),
                self.path.mkdir,
                lambda: os.mkfifo(self.path),
                self.path.touch,
            ):
                put()
                self.assertIs(ServerReachability.GONE, self.reach())
                self.path.rmdir() if self.path.is_dir() else self.path.unlink()

    def test_locked_socket_of_a_starting_server_is_unknown(self) -> None:
        """Its socket refuses connections at first, and whoever starts it holds a lock."""
        with socket.socket(socket.AF_UNIX) as server, open(f"{self.path}.lock", "w") as lock:
            self.assertIs(ServerReachability.GONE, self.reach())
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assertIs(ServerReachability.UNKNOWN, self.reach())
            server.bind(str(self.path))
            self.assertIs(ServerReachability.UNKNOWN, self.reach())
            server.listen()
            self.assertIs(ServerReachability.HERE, self.reach())
        self.assertIs(ServerReachability.GONE, self.reach())

    def test_irregular_lock_file_is_ignored(self) -> None:
        """A pipe without a writer holds nobody up; a link is not followed."""
        lock = Path(f"{self.path}.lock")
        os.mkfifo(lock)
        self.assertIs(ServerReachability.GONE, self.reach())
        lock.unlink()
        lock.symlink_to("/etc/passwd")
        self.assertIs(ServerReachability.UNKNOWN, self.reach())

    def test_command_line_uses_setpriv_where_available(self) -> None:
        with_setpriv = ["/usr/bin/setpriv", "--pdeathsig", "KILL", "--", "/usr/bin/tmux", "-V"]
        self.assertEqual(with_setpriv, self.transport.build_argv("-V"))
        self.assertEqual(["/usr/bin/tmux", "-V"], LocalTransport("/usr/bin/tmux").build_argv("-V"))

    def test_held_process_is_probed_and_killed(self) -> None:
        with subprocess.Popen(["sleep", "60"]) as child:
            held = self.hold(child.pid)
            assert held is not None
            self.assertIs(Liveness.ALIVE, self.now(held.get_liveness()))
            self.now(held.kill())
            child.wait()
            self.assertIs(Liveness.DEAD, self.now(held.get_liveness()))
            self.now(held.kill())
            held.close()
        self.assertIsNone(self.hold(child.pid))

    def test_process_with_a_high_descriptor_is_held(self) -> None:
        """A service with a thousand clients has its descriptors above 1023."""
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, limits)
        resource.setrlimit(resource.RLIMIT_NOFILE, (limits[1], limits[1]))
        low = os.pidfd_open(os.getpid())
        high = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, 2000)
        os.close(low)
        self.patch(os, "pidfd_open", lambda pid: high)
        held = self.hold(os.getpid())
        assert held is not None
        self.assertIs(Liveness.ALIVE, self.now(held.get_liveness()))
        held.close()

    def test_listening_process_is_held(self) -> None:
        program = (
            "import socket, sys, time; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]);"
            " s.listen(); print(flush=True); time.sleep(60)"
        )
        words = [sys.executable, "-c", program, str(self.path)]
        with subprocess.Popen(words, stdout=subprocess.PIPE) as server:
            assert server.stdout is not None
            server.stdout.readline()
            held = self.hold_server(self.path)
            assert held is not None
            self.now(held.kill())
            server.wait()
            self.assertIs(Liveness.DEAD, self.now(held.get_liveness()))
            held.close()
        self.assertIsNone(self.hold_server(self.path))

    def test_held_process_is_hung_up_once(self) -> None:
        # Children of a test run under nohup would ignore it.
        before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
        self.addCleanup(signal.signal, signal.SIGHUP, before)
        with subprocess.Popen(["sleep", "60"]) as child:
            held = self.hold(child.pid)
            assert held is not None
            self.now(held.send_hangup())
            self.assertEqual(-signal.SIGHUP, child.wait())
            self.now(held.send_hangup())
            held.close()

    def test_session_ids_cannot_be_socket_paths(self) -> None:
        folder = SocketFolder(self.folder)
        for name in ("", "../x", "a/b", "A", "-a", "a" * 65, "a\n"):
            self.assertRaises(ValueError, folder.get_socket_path, name)

    def test_sockets_in_the_folder_are_found(self) -> None:
        folder = SocketFolder(self.folder)
        self.assertEqual(frozenset(), self.now(folder.find_session_ids()))
        self.now(folder.prepare_folder())
        for name in ("abc.sock", "BAD.sock", "abc.txt"):
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(str(folder.path / name))
        (folder.path / "file.sock").touch()
        self.assertEqual({"abc"}, self.now(folder.find_session_ids()))

    def test_linked_socket_folder_is_refused(self) -> None:
        (self.folder / "mux").symlink_to("/tmp")
        self.refused(SocketFolder(self.folder).prepare_folder())

    def test_file_instead_of_the_socket_folder_is_refused(self) -> None:
        (self.folder / "mux").write_text("somebody's")
        self.refused(SocketFolder(self.folder).prepare_folder())
        self.assertEqual("somebody's", (self.folder / "mux").read_text())

    def test_full_disk_is_named_in_the_socket_folder_error(self) -> None:
        def full(*_: object, **__: object) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        self.patch(Path, "mkdir", full)
        self.refused(SocketFolder(self.folder).prepare_folder(), "the disk is full")

    def test_socket_path_too_long_everywhere_is_refused(self) -> None:
        long = self.folder / ("x" * 100)
        self.refused(SocketFolder(long, long).prepare_folder())
        self.assertFalse(os.path.lexists(long))
