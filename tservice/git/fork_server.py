"""Fork server: a process that starts git for the service and reports its output and exit status.

Starting a process blocks the parent until the child runs, which takes milliseconds on a busy
machine.  In a separate process this does not delay any terminal.

The server is run by file name in a bare interpreter (C{python -I -S}).  It uses only the standard
library and leads its own session.  It reads requests on standard input and writes answers to
standard output.  Both are frames: L{HEAD}, then a payload.  At the end of its input it kills all
processes and exits.

If its argument is the path of git, it can run no other program, whatever a repository configures.
This covers configuration that changes after the service read it.  A git process that is restricted
to a folder can open only files in that folder, and the system files that git needs.  A repository
has many ways to refer to files elsewhere.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

HEAD = struct.Struct("<IBI")
"""Head of a frame: number of the process, kind of frame, and number of bytes that follow."""

START, KILL = 1, 2
"""Requests: start the process of an L{encode_start}; kill the whole group of a run."""

OUTPUT, ERRORS, ENDED, FAILED = 3, 4, 5, 6
"""Answers: bytes of stdout or stderr; the end with its L{STATUS}, always last; not started, with
the reason."""

STATUS = struct.Struct("<i")
"""Exit status of a process; a negative number is a signal."""

GRACE = 1.0
"""Seconds to wait for a process's pipes to close after it has ended."""

SYSTEM = (
    *("/usr", "/lib", "/lib32", "/lib64", "/bin", "/nix/store", "/gnu/store"),
    *("/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/localtime", "/etc/nsswitch.conf"),
    *("/etc/passwd", "/etc/group"),
)
"""Paths that programs need to start, and to look up their user."""

CHUNK_SIZE = 65536
"""Maximum bytes of output in one frame."""

NICENESS = 5
"""Niceness of git processes, so that they do not slow down terminals."""


def encode_start(
    argv: list[bytes],
    env: dict[bytes, bytes],
    uid: int | None,
    gid: int | None,
    within: bytes | None = None,
) -> bytes:
    """Return the payload of a L{START} frame.

    @param uid: user id of the process; C{None} means the user of the fork server.  C{gid} likewise.
    @param within: the only folder that the process may access; C{None} means no restriction.
    """
    names = {_decode_latin(name): _decode_latin(value) for name, value in env.items()}
    words = [_decode_latin(word) for word in argv]
    folder = None if within is None else _decode_latin(within)
    asked = {"argv": words, "env": names, "uid": uid, "gid": gid, "within": folder}
    return json.dumps(asked).encode()


def _decode_latin(data: bytes) -> str:
    """Decode bytes as Latin-1, so that JSON can carry any bytes."""
    return data.decode("latin-1")


def _encode_latin(text: str) -> bytes:
    return text.encode("latin-1")


class ForkFrameDecoder:
    """Splits a byte stream into frames.  The input may arrive in pieces of any size."""

    def __init__(self) -> None:
        self._rest = b""

    def feed_bytes(self, data: bytes) -> Iterator[tuple[int, int, bytes]]:
        """Yield each frame that is complete now, as process number, kind and payload."""
        data, at = self._rest + data, 0
        while at + HEAD.size <= len(data):
            number, kind, length = HEAD.unpack_from(data, at)
            end = at + HEAD.size + length
            if end > len(data):
                break
            yield number, kind, data[at + HEAD.size : end]
            at = end
        self._rest = data[at:]


class _ForkedProcess:
    """Process started by the fork server, with its pipes and exit status."""

    def __init__(self, number: int, process: subprocess.Popen[bytes]) -> None:
        self.number = number
        self.process = process
        self.pidfd = _open_pid_descriptor(process)
        pipes = ((process.stdout, OUTPUT), (process.stderr, ERRORS))
        self.pipes = {pipe.fileno(): kind for pipe, kind in pipes if pipe is not None}
        self.until: float | None = None

    def kill_group(self) -> None:
        """Kill the process group.

        Its number stays reserved until the leader is waited for.
        """
        if self.until is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)

    def is_finished(self, now: float) -> bool:
        """Return true if the process has ended and its pipes are closed or L{GRACE} has passed."""
        return self.until is not None and (not self.pipes or now >= self.until)

    def close_pipes(self) -> None:
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()


def _open_pid_descriptor(process: subprocess.Popen[bytes]) -> int:
    """Return a file descriptor that becomes readable when the process ends.

    If this fails, the process is killed.

    @raise OSError: raised by C{pidfd_open}.
    """
    try:
        return os.pidfd_open(process.pid)
    except OSError:
        process.kill()
        process.communicate()
        raise


class ForkServer:
    """Running processes, and the loop that reads requests and forwards output.

    @param now: returns the seconds of a monotonic clock.
    @param system: paths that a restricted process can read in addition to its folder; C{None} if
        this system cannot restrict processes to folders.
    """

    def __init__(self, now: Callable[[], float], system: Sequence[str] | None = None) -> None:
        self._now = now
        self._system = system
        self._frames = ForkFrameDecoder()
        self._runs: dict[int, _ForkedProcess] = {}
        self._selector = selectors.DefaultSelector()
        self._selector.register(0, selectors.EVENT_READ, self._handle_requests)

    def serve_requests(self) -> None:
        """Serve requests until the end of the input."""
        try:
            while True:
                for key, _ in self._selector.select(self._select_timeout()):
                    key.data(key.fd)
                for run in [run for run in self._runs.values() if run.is_finished(self._now())]:
                    self._finish_process(run)
        finally:
            for run in self._runs.values():
                run.kill_group()

    def _select_timeout(self) -> float | None:
        ends = [run.until for run in self._runs.values() if run.until is not None]
        return max(0.0, min(ends) - self._now()) if ends else None

    def _handle_requests(self, descriptor: int) -> None:
        data = os.read(descriptor, CHUNK_SIZE)
        if not data:
            sys.exit()
        for number, kind, payload in self._frames.feed_bytes(data):
            if kind == START:
                self._start_requested_process(number, payload)
            elif kind == KILL and number in self._runs:
                self._runs[number].kill_group()

    def _start_requested_process(self, number: int, payload: bytes) -> None:
        try:
            run = _ForkedProcess(number, start_process(**json.loads(payload), system=self._system))
        except (OSError, ValueError) as error:
            self._send_frame(number, FAILED, _describe_error(error).encode())
            return
        self._runs[number] = run
        self._register_descriptor(run.pidfd, lambda _: self._handle_exit(run))
        for pipe in run.pipes:
            self._register_descriptor(pipe, lambda pipe: self._forward_output(run, pipe))

    def _register_descriptor(self, descriptor: int, call: Callable[[int], None]) -> None:
        self._selector.register(descriptor, selectors.EVENT_READ, call)

    def _forward_output(self, run: _ForkedProcess, pipe: int) -> None:
        data = os.read(pipe, CHUNK_SIZE)
        if data:
            self._send_frame(run.number, run.pipes[pipe], data)
            return
        self._selector.unregister(pipe)
        del run.pipes[pipe]

    def _handle_exit(self, run: _ForkedProcess) -> None:
        # Kill git's children before their group's number can be reused.
        run.kill_group()
        run.process.wait()
        self._selector.unregister(run.pidfd)
        os.close(run.pidfd)
        run.until = self._now() + GRACE

    def _finish_process(self, run: _ForkedProcess) -> None:
        for pipe in run.pipes:
            self._selector.unregister(pipe)
        run.close_pipes()
        del self._runs[run.number]
        self._send_frame(run.number, ENDED, STATUS.pack(run.process.returncode))

    def _send_frame(self, number: int, kind: int, payload: bytes) -> None:
        rest = memoryview(HEAD.pack(number, kind, len(payload)) + payload)
        try:
            while rest:
                rest = rest[os.write(1, rest) :]
        except BrokenPipeError:
            sys.exit()


def start_process(
    argv: list[str],
    env: dict[str, str],
    uid: int | None,
    gid: int | None,
    within: str | None,
    system: Sequence[str] | None,
) -> subprocess.Popen[bytes]:
    """Start one process as the leader of a new session.

    @param within: the only folder that the process may access; C{None} means no restriction.
    @param system: see L{ForkServer}.
    @raise OSError: the program cannot be started.
    @raise ValueError: an argument contains a NUL.
    """
    if uid is not None:
        _join_empty_keyring()
    bounded = None if within is None or system is None else (_encode_latin(within), system)
    with _prepare_folder_restriction(*bounded) if bounded else nullcontext() as enter:
        return _spawn_process(argv, env, uid, gid, enter)


def _spawn_process(
    argv: list[str],
    env: dict[str, str],
    uid: int | None,
    gid: int | None,
    enter: Callable[[], None] | None,
) -> subprocess.Popen[bytes]:
    """Start one process.

    @param enter: called in the child process before it runs the program.
    @raise OSError: the program cannot be started.
    """
    try:
        return subprocess.Popen(
            [_encode_latin(word) for word in argv],
            env={_encode_latin(name): _encode_latin(value) for name, value in env.items()},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            user=uid,
            group=gid,
            extra_groups=None if uid is None else [],
            preexec_fn=enter,
        )
    except subprocess.SubprocessError:
        raise OSError("it cannot be restricted to its folder") from None


@contextmanager
def _prepare_folder_restriction(
    folder: str | bytes, system: Sequence[str]
) -> Iterator[Callable[[], None]]:
    """Yield a function that a new process calls to restrict itself to C{folder}.

    @raise OSError: the folder does not exist.
    """
    with _importable_service_modules():
        from tservice.core.process.landlock import apply_rules, make_folder_rules
    rules = make_folder_rules(folder, system)
    try:
        yield lambda: apply_rules(rules)
    finally:
        os.close(rules)


def _describe_error(error: OSError | ValueError) -> str:
    """Return the reason of an error, without the path that C{str} of an L{OSError} contains."""
    return (isinstance(error, OSError) and error.strerror) or str(error)


def _join_empty_keyring() -> None:
    """Replace the session keyring of this process by an empty one.

    A process of another user then cannot read the keys of root or of the previous user.
    """
    with _importable_service_modules():
        from tservice.core.users.keyring import use_fresh_keyring
    with use_fresh_keyring():
        pass


def allow_only_git(program: str) -> None:
    """Restrict this process to running git, provided that git still works with the restriction.

    @param program: path of git.
    @raise OSError: the restriction is not possible; nothing has changed.
    """
    with _importable_service_modules():
        from tservice.core.process.landlock import restrict_programs
    programs = (program, os.path.join(_find_exec_path(program), "git"))
    # Test it in a child first: this process cannot undo it.
    _run_program([program, "--version"], lambda: restrict_programs(programs))
    restrict_programs(programs)


def find_system_paths(program: str) -> tuple[str, ...]:
    """Return the system paths to which git needs access, after a test run with only these.

    @param program: path of git.
    @raise OSError: git does not work with these paths only.
    """
    folder = _find_exec_path(program)
    system = (*SYSTEM, folder, os.path.dirname(program))
    with _prepare_folder_restriction(folder, system) as enter:
        _run_program([program, "--version"], enter)
    return system


def _find_exec_path(program: str) -> str:
    """Return the folder of git's internal programs.

    @raise OSError: git fails (see L{_run_program}), or is a script, whose needs are unknown.
    """
    with _importable_service_modules():
        from tservice.core.process.landlock import find_loader
    find_loader(program)
    return _run_program([program, "--exec-path"])


def _run_program(argv: list[str], before: Callable[[], None] | None = None) -> str:
    """Run a program and return its output, which is one line.

    @param before: called in the child process before it runs the program.
    @raise OSError: the program cannot be run, or fails.
    """
    try:
        ran = subprocess.run(
            argv,
            env={},
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            preexec_fn=before,
        )
    except subprocess.SubprocessError:
        raise OSError("this system has no Landlock") from None
    return os.fsdecode(ran.stdout.strip())


@contextmanager
def _importable_service_modules() -> Iterator[None]:
    """Make the service's modules importable in a bare interpreter."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    try:
        yield
    finally:
        sys.path.pop(0)


def _restrict_server(program: str) -> tuple[str, ...] | None:
    """Restrict this process as far as the system allows, and log each restriction that is not
    possible.

    @param program: path of git.
    @return: paths that git can read in addition to its folder; C{None} if git is not restricted to
        folders.
    """
    try:
        allow_only_git(program)
    except OSError as error:
        _print_error(f"git can run other programs here: {error}")
    try:
        return find_system_paths(program)
    except OSError as error:
        _print_error(f"git cannot be restricted to folders here: {error}")
        return None


def _print_error(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main(arguments: Sequence[str], now: Callable[[], float]) -> None:
    """Run the fork server for the parent process.

    @param arguments: the path of git if no other program may be run, otherwise empty.
    @param now: returns the seconds of a monotonic clock.
    """
    os.setsid()
    os.nice(NICENESS)
    ForkServer(now, _restrict_server(arguments[0]) if arguments else None).serve_requests()


if __name__ == "__main__":
    main(sys.argv[1:], time.monotonic)
