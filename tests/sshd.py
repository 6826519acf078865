"""A real sshd on loopback, as the user that runs the tests, with a home of its own."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path
from typing import Any

from twisted.internet.process import ProcessReader

from tests.held_port import HeldPort
from tests.waiting import PATIENCE, wait_until

SSHD = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/sbin") or "/usr/sbin/sshd"
SSH = shutil.which("ssh") or "/usr/bin/ssh"
KEYGEN = shutil.which("ssh-keygen") or "/usr/bin/ssh-keygen"


class SshServer:
    """Its keys, its home and its port are its own; C{close} ends all that it left.

    @ivar home: HOME of whoever signs in.
    @ivar sockets: where tmux has its sockets there.
    @ivar key: signs in.
    @ivar known: a file of host keys that has the right one.
    """

    def __init__(self, folder: Path, *more: str, **variables: str) -> None:
        """
        @param more: lines of its configuration.
        @param variables: of the environment of whoever signs in.
        """
        self.folder = folder
        self.home, self.sockets = folder / "home", folder / "t"
        self.key, self.known = folder / "id", folder / "known"
        for path in (self.home, self.sockets):
            path.mkdir(parents=True, mode=0o700)
        for name in ("id", "host"):
            self.make_key(name)
        shutil.copy(folder / "id.pub", folder / "authorized")
        self.more, self.variables = more, variables
        self._held = HeldPort()
        self.port = self._held.number
        self.pid: int | None = None
        self.trust()
        self.start()

    def make_key(self, name: str) -> None:
        """A fresh pair in the place of an old one."""
        (self.folder / name).unlink(missing_ok=True)
        words = [KEYGEN, "-q", "-t", "ed25519", "-N", "", "-f", str(self.folder / name)]
        subprocess.run(words, check=True, stdin=subprocess.DEVNULL)

    def trust(self) -> None:
        """Have the key of now in C{known}."""
        kind, text, *_ = (self.folder / "host.pub").read_text().split()
        self.known.write_text(f"[127.0.0.1]:{self.port} {kind} {text}\n")

    def start(self) -> None:
        """Listen, at once or again."""
        os.makedirs("/run/sshd", exist_ok=True) if os.getuid() == 0 else None
        given = {"HOME": self.home, "TMUX_TMPDIR": self.sockets, **self.variables}
        lines = [
            f"ListenAddress 127.0.0.1:{self.port}",
            f"HostKey {self.folder}/host",
            f"AuthorizedKeysFile {self.folder}/authorized",
            f"PidFile {self.folder}/pid",
            # One line: of several only the first counts.
            "SetEnv " + " ".join(f"{name}={value}" for name, value in given.items()),
            "StrictModes no",
            "UsePAM no",
            "PasswordAuthentication no",
            "PermitRootLogin yes",
            "MaxSessions 100",
            "MaxStartups 100",
            *self.more,
        ]
        (self.folder / "config").write_text("\n".join(lines) + "\n")
        command = [SSHD, "-D", "-e", "-f", str(self.folder / "config")]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        self.pid = self._process.pid
        wait_until(
            "the server", lambda: self._process.poll() is not None or _is_listening(self.port)
        )
        if self._process.poll() is not None:
            raise RuntimeError((self.folder / "log").read_text())

    def stop(self) -> None:
        """Listen no more, and end every connection."""
        if self.pid is None:
            return
        # It stands still first, or one that it takes just now would be missed, and would stay.
        self._process.send_signal(signal.SIGSTOP)
        wait_until("a server that stands still", lambda: _is_stopped(self._process.pid))
        for pid in self.connections():
            _end_process(pid)
        self._process.kill()
        self._process.wait()
        self.pid = None

    def connections(self) -> list[int]:
        """The processes that serve connections."""
        return find_children(self.pid) if self.pid is not None else []

    def close(self) -> None:
        """End it and every tmux server there."""
        self.stop()
        self.sweep()
        self._held.close()

    def sweep(self) -> None:
        """End every tmux server there."""
        for path in self.sockets.glob("tmux-*/*"):
            if path.is_socket():
                words = ["tmux", "-S", str(path), "kill-server"]
                subprocess.run(words, check=False, capture_output=True, timeout=PATIENCE)
            path.unlink(missing_ok=True)

    def ssh(self, control: Path) -> list[str]:
        """The words before a command there, over one connection that is made when needed."""
        return [
            SSH,
            "-F",
            "none",
            "-T",
            "-i",
            str(self.key),
            "-p",
            str(self.port),
            "-o",
            f"UserKnownHostsFile={self.known}",
            "-o",
            "BatchMode=yes",
            "-o",
            "ControlMaster=auto",
            "-o",
            "ControlPersist=60",
            "-o",
            f"ControlPath={control}",
            "127.0.0.1",
        ]


class SshAgent:
    """Keeps keys that nobody has to name; C{close} ends it.

    @ivar socket: where ssh finds it.
    """

    def __init__(self, socket: Path) -> None:
        self.socket = socket
        words = ["ssh-agent", "-D", "-a", str(socket)]
        self._process = subprocess.Popen(words, stdout=subprocess.DEVNULL)

    def add(self, key: Path) -> None:
        """Have it keep a key."""
        # Its socket is there before anybody listens on it.
        wait_until("the agent", lambda: _agent_answers(self.socket))
        environ = {**os.environ, "SSH_AUTH_SOCK": str(self.socket)}
        subprocess.run(["ssh-add", "-q", str(key)], env=environ, check=True)

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()


def find_children(pid: int) -> list[int]:
    """The processes whose parent is C{pid}."""
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return []  # it is over
    return [int(word) for word in text.split()]


def children_read(reactor: Any) -> bool:
    """Whether the output of any child of this process is still waited for."""
    return any(isinstance(each, ProcessReader) for each in reactor.getReaders())


def _is_listening(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def _is_stopped(pid: int) -> bool:
    """Whether a process of ours is stopped, or over."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] in "TZX"


def _agent_answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as one:
        return one.connect_ex(str(path)) == 0


def _end_process(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
