"""Starts git for the service and tells it what becomes of it.

To start a process holds the parent up until the child runs, which is milliseconds on a busy
machine.  Here that holds up nobody's terminal.

It runs by file name in a bare interpreter (C{python -I -S}), with the standard library only, and
leads a session of its own.  Requests come in by standard input, answers leave by standard output,
both as frames: L{HEAD}, then a payload.  When its input ends, with the service or by its wish,
everything that runs is ended, and so is this.

With the path of git as an argument nothing else can be run, by whatever is configured where: what
is put over a repository's own configuration by name does not hold for what comes behind a look.
Git that is started within a folder opens nothing but what is in there, and what it needs of the
system: a repository names other places to read by a dozen ways.
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
"""The number of a run, the kind of frame, and how many bytes follow."""

START, KILL = 1, 2
"""Requests: start what L{order} wrote; end the whole group of a run."""

OUTPUT, ERRORS, ENDED, FAILED = 3, 4, 5, 6
"""Answers: bytes of stdout or stderr; the end, with its L{STATUS}, which comes last; not started,
with the reason."""

STATUS = struct.Struct("<i")
"""An exit status, or less than 0 for a signal."""

GRACE = 1.0
"""Seconds that pipes may stay open behind the end of their process."""

SYSTEM = (
    *("/usr", "/lib", "/lib32", "/lib64", "/bin", "/nix/store", "/gnu/store"),
    *("/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/localtime", "/etc/nsswitch.conf"),
    *("/etc/passwd", "/etc/group"),
)
"""What programs need to start, and to tell who runs them."""

PIECE = 65536
"""Bytes of a frame of output, at most."""

NICENESS = 5
"""What somebody looks at now and then gives way to what somebody types."""


def order(
    argv: list[bytes],
    env: dict[bytes, bytes],
    uid: int | None,
    gid: int | None,
    within: bytes | None = None,
) -> bytes:
    """The payload of L{START}: what to run, with which environment, as whom, in which folder."""
    names = {_text(name): _text(value) for name, value in env.items()}
    words = [_text(word) for word in argv]
    folder = None if within is None else _text(within)
    asked = {"argv": words, "env": names, "uid": uid, "gid": gid, "within": folder}
    return json.dumps(asked).encode()


def _text(data: bytes) -> str:
    """Any bytes as JSON can carry them."""
    return data.decode("latin-1")


def _bytes(text: str) -> bytes:
    return text.encode("latin-1")


class Frames:
    """Cuts a stream into frames, however it comes."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[tuple[int, int, bytes]]:
        """The frames that are whole now: number, kind, payload."""
        data, at = self._rest + data, 0
        while at + HEAD.size <= len(data):
            number, kind, length = HEAD.unpack_from(data, at)
            end = at + HEAD.size + length
            if end > len(data):
                break
            yield number, kind, data[at + HEAD.size : end]
            at = end
        self._rest = data[at:]


class _Run:
    """One process, its pipes, and what is known of its end."""

    def __init__(self, number: int, process: subprocess.Popen[bytes]) -> None:
        self.number = number
        self.process = process
        self.pidfd = _pidfd(process)
        pipes = ((process.stdout, OUTPUT), (process.stderr, ERRORS))
        self.pipes = {pipe.fileno(): kind for pipe, kind in pipes if pipe is not None}
        self.until: float | None = None

    def kill(self) -> None:
        """End its group, whose number is taken as long as nobody has waited for its leader."""
        if self.until is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)

    def over(self, now: float) -> bool:
        """Whether it has ended and nothing more comes, or is waited for."""
        return self.until is not None and (not self.pipes or now >= self.until)

    def close(self) -> None:
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()


def _pidfd(process: subprocess.Popen[bytes]) -> int:
    """What tells of the end of a process; without one it is ended at once.

    @raise OSError: as of C{pidfd_open}.
    """
    try:
        return os.pidfd_open(process.pid)
    except OSError:
        process.kill()
        process.communicate()
        raise


class ForkServer:
    """Everything that runs.

    @param now: seconds that nobody sets.
    @param system: what is read beside the folder that something is started within; C{None}: there
        are no such bounds here.
    """

    def __init__(self, now: Callable[[], float], system: Sequence[str] | None = None) -> None:
        self._now = now
        self._system = system
        self._frames = Frames()
        self._runs: dict[int, _Run] = {}
        self._selector = selectors.DefaultSelector()
        self._selector.register(0, selectors.EVENT_READ, self._asked)

    def serve(self) -> None:
        """Work until the input ends."""
        try:
            while True:
                for key, _ in self._selector.select(self._patience()):
                    key.data(key.fd)
                for run in [run for run in self._runs.values() if run.over(self._now())]:
                    self._finish(run)
        finally:
            for run in self._runs.values():
                run.kill()

    def _patience(self) -> float | None:
        ends = [run.until for run in self._runs.values() if run.until is not None]
        return max(0.0, min(ends) - self._now()) if ends else None

    def _asked(self, descriptor: int) -> None:
        data = os.read(descriptor, PIECE)
        if not data:
            sys.exit()
        for number, kind, payload in self._frames.feed(data):
            if kind == START:
                self._start(number, payload)
            elif kind == KILL and number in self._runs:
                self._runs[number].kill()

    def _start(self, number: int, payload: bytes) -> None:
        try:
            run = _Run(number, begin(**json.loads(payload), system=self._system))
        except (OSError, ValueError) as error:
            self._say(number, FAILED, _reason(error).encode())
            return
        self._runs[number] = run
        self._listen(run.pidfd, lambda _: self._ended(run))
        for pipe in run.pipes:
            self._listen(pipe, lambda pipe: self._printed(run, pipe))

    def _listen(self, descriptor: int, call: Callable[[int], None]) -> None:
        self._selector.register(descriptor, selectors.EVENT_READ, call)

    def _printed(self, run: _Run, pipe: int) -> None:
        data = os.read(pipe, PIECE)
        if data:
            self._say(run.number, run.pipes[pipe], data)
            return
        self._selector.unregister(pipe)
        del run.pipes[pipe]

    def _ended(self, run: _Run) -> None:
        # What git left behind ends with it, and before its number can be somebody else's.
        run.kill()
        run.process.wait()
        self._selector.unregister(run.pidfd)
        os.close(run.pidfd)
        run.until = self._now() + GRACE

    def _finish(self, run: _Run) -> None:
        for pipe in run.pipes:
            self._selector.unregister(pipe)
        run.close()
        del self._runs[run.number]
        self._say(run.number, ENDED, STATUS.pack(run.process.returncode))

    def _say(self, number: int, kind: int, payload: bytes) -> None:
        rest = memoryview(HEAD.pack(number, kind, len(payload)) + payload)
        try:
            while rest:
                rest = rest[os.write(1, rest) :]
        except BrokenPipeError:
            sys.exit()


def begin(
    argv: list[str],
    env: dict[str, str],
    uid: int | None,
    gid: int | None,
    within: str | None,
    system: Sequence[str] | None,
) -> subprocess.Popen[bytes]:
    """Start one process, as the leader of a session of its own.

    @raise OSError: it cannot be.
    @raise ValueError: there is a NUL in a word.
    """
    if uid is not None:
        _take_no_keys_along()
    bounded = None if within is None or system is None else (_bytes(within), system)
    with _fenced(*bounded) if bounded else nullcontext() as enter:
        return _started(argv, env, uid, gid, enter)


def _started(
    argv: list[str],
    env: dict[str, str],
    uid: int | None,
    gid: int | None,
    enter: Callable[[], None] | None,
) -> subprocess.Popen[bytes]:
    """@raise OSError: as L{begin}."""
    try:
        return subprocess.Popen(
            [_bytes(word) for word in argv],
            env={_bytes(name): _bytes(value) for name, value in env.items()},
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
        raise OSError("it cannot be kept within its folder") from None


@contextmanager
def _fenced(folder: str | bytes, system: Sequence[str]) -> Iterator[Callable[[], None]]:
    """What a new process does to be within C{folder}.

    @raise OSError: the folder is not there.
    """
    with _our_modules():
        from tservice.core.process.landlock import fence, restrict
    rules = fence(folder, system)
    try:
        yield lambda: restrict(rules)
    finally:
        os.close(rules)


def _reason(error: OSError | ValueError) -> str:
    """Without the path that C{str} of an L{OSError} holds."""
    return (isinstance(error, OSError) and error.strerror) or str(error)


def _take_no_keys_along() -> None:
    """Another user must find neither root's keys nor those of the user before."""
    with _our_modules():
        from tservice.core.users.keyring import fresh_keyring
    with fresh_keyring():
        pass


def run_git_alone(program: str) -> None:
    """Let nothing but git be run from here on, if git itself still can be.

    @raise OSError: it cannot be so, and is not.
    """
    with _our_modules():
        from tservice.core.process.landlock import run_only
    programs = (program, os.path.join(_own_folder(program), "git"))
    # In a child first: for this process there is no way back.
    _asked([program, "--version"], lambda: run_only(programs))
    run_only(programs)


def read_by_git(program: str) -> tuple[str, ...]:
    """What git reads of the system, if it can do with that.

    @raise OSError: it cannot.
    """
    folder = _own_folder(program)
    system = (*SYSTEM, folder, os.path.dirname(program))
    with _fenced(folder, system) as enter:
        _asked([program, "--version"], enter)
    return system


def _own_folder(program: str) -> str:
    """Where git's own programs are.

    @raise OSError: as L{_asked}; also where it is a script, of which nobody knows what it needs.
    """
    with _our_modules():
        from tservice.core.process.landlock import loader_of
    loader_of(program)
    return _asked([program, "--exec-path"])


def _asked(argv: list[str], before: Callable[[], None] | None = None) -> str:
    """What a program prints in a line.

    @raise OSError: it cannot be run, or fails.
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
def _our_modules() -> Iterator[None]:
    """The program's own, of which a bare interpreter knows nothing."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    try:
        yield
    finally:
        sys.path.pop(0)


def _bounds(program: str) -> tuple[str, ...] | None:
    """Bound what runs here as far as this system can, and say what it cannot.

    @return: what git reads beside the folder that it is started within; C{None}: anything.
    """
    try:
        run_git_alone(program)
    except OSError as error:
        _complain(f"git is not kept from running programs: {error}")
    try:
        return read_by_git(program)
    except OSError as error:
        _complain(f"git is not kept within folders: {error}")
        return None


def _complain(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main(arguments: Sequence[str], now: Callable[[], float]) -> None:
    """Serve whoever started this.

    @param arguments: the path of git, where nothing else may be run.
    @param now: seconds that nobody sets.
    """
    os.setsid()
    os.nice(NICENESS)
    ForkServer(now, _bounds(arguments[0]) if arguments else None).serve()


if __name__ == "__main__":
    main(sys.argv[1:], time.monotonic)
