"""Child processes that run one command, with limits on their time and output.

Every feature that runs a program and waits for its end uses this service.  A child is started
without a shell.  It is killed at its time limit, when it prints too much, and when its owner stops
it.  If C{setpriv} is installed, it is also killed when the service ends for any reason.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from enum import Enum, auto
from typing import Any

from attrs import field, frozen
from twisted.internet.defer import CancelledError, Deferred, gatherResults, succeed
from twisted.internet.error import ProcessExitedAlready, ProcessTerminated
from twisted.internet.interfaces import IProcessTransport, IReactorProcess, IReactorTime
from twisted.internet.protocol import ProcessProtocol
from twisted.python.failure import Failure

from tservice.core.kernel.timers import NamedTimers
from tservice.core.process import warden
from tservice.core.process.parent_death import make_parent_death_prefix
from tservice.core.process.process_group import make_group_command
from tservice.core.process.starter_thread import start_in_thread
from tservice.core.users.keyring import use_fresh_keyring
from tservice.core.users.os_users import ProcessIdentity, make_user_prefix

ABANDON_SECONDS = 5.0
"""Seconds to wait for a process to end after SIGKILL.

A process that is blocked on a hung mount does not end.
"""
UNKILLABLE = "it cannot be killed"

_LIMIT, _KILL, _ABANDON, _PIPES = "limit", "kill", "abandon", "pipes"

Sink = Callable[[bytes], bool]
"""Callback that receives output as it arrives.

It returns false when it wants no more; the process is then killed.
"""
KillGroup = Callable[[int, int], None]
SetPriority = Callable[[int, int, int], None]


class ChildFamily(Enum):
    """Processes that are ended together with a child.

    - C{ALONE}: none.  The child stays in the process group of the service.
    - C{GROUP}: those of its process group, if the child is stopped.  After its regular end they
      live on.
    - C{BOUND}: those of its process group, however the child ends.
    """

    ALONE = auto()
    GROUP = auto()
    BOUND = auto()


@frozen(kw_only=True)
class ChildCommand:
    """Command of a child process, with its limits.

    @ivar argv: program and arguments.  The program is an absolute path.
    @ivar env: the complete environment.
    @ivar folder: the working folder; C{None} means that of this process.  Another one than that
        makes the start slower, because the process is then copied.
    @ivar user: OS user that runs the command; C{None} means the user of this process.
    @ivar stdin: bytes of standard input, or a file descriptor.
    @ivar is_silent: true if the output goes to C{/dev/null}, so that no process can hold a pipe.
    @ivar is_guarded: true if the whole process group is ended as soon as this process ends.
        Otherwise that is the program alone.  A guarded program has no standard input and leads no
        group; see L{tservice.core.process.warden}.
    @ivar is_contained: true if also the processes are ended that left the process group.  The
        command is guarded as well, and C{term_seconds} must leave its supervisor the time.
    @ivar name: the C{argv[0]} that the program sees; C{None} for its path.
    @ivar niceness: number added to the niceness of this process.
    @ivar restrict: called in a thread from which the process is then started, and which inherits
        its restrictions; see L{tservice.core.process.landlock}.
    @ivar seconds: time limit; C{None} means none.
    @ivar output_limit: maximum bytes of output, if no sink receives it.
    @ivar error_limit: number of bytes that are kept from the end of standard error.
    @ivar term_seconds: seconds between SIGTERM and SIGKILL; 0 means that SIGKILL is sent at once.
    @ivar pipe_seconds: seconds for which the pipes may stay open after the end of the process.
        Processes that it left may hold them.
    """

    argv: Sequence[str | bytes]
    env: Mapping[Any, Any] = field(repr=False)
    folder: str | None = "/"
    user: ProcessIdentity | None = None
    family: ChildFamily = ChildFamily.BOUND
    stdin: bytes | int = field(default=b"", repr=False)
    is_silent: bool = False
    is_guarded: bool = False
    is_contained: bool = False
    name: str | None = None
    niceness: int = 0
    restrict: Callable[[], None] | None = None
    seconds: float | None
    output_limit: int = 1024 * 1024
    error_limit: int = 4096
    term_seconds: float = 0.0
    pipe_seconds: float = 1.0

    @property
    def has_warden(self) -> bool:
        """True if a supervisor stands between this process and the program."""
        return self.is_guarded or self.is_contained


@frozen(kw_only=True)
class ChildResult:
    """Result of a child process.

    @ivar status: the exit status; C{None} if a signal ended the process, or it is unknown.
    @ivar signal: the signal that ended the process, if any.
    @ivar output: standard output, if no sink received it.
    @ivar errors: the end of standard error.
    @ivar is_truncated: true if the process was killed because it printed too much.
    @ivar is_timed_out: true if it was killed because of its time limit.
    @ivar is_stopped: true if its owner stopped it.
    @ivar is_abandoned: true if it did not end after SIGKILL.
    @ivar fault: the error that the sink raised; the process was killed then.
    """

    status: int | None
    signal: int | None = None
    output: bytes = b""
    errors: bytes = b""
    is_truncated: bool = False
    is_timed_out: bool = False
    is_stopped: bool = False
    is_abandoned: bool = False
    fault: Exception | None = None

    @property
    def error_text(self) -> str:
        """The end of standard error as text."""
        return self.errors.decode("utf-8", "replace").strip()


@frozen
class ChildTools:
    """Absolute paths of util-linux's C{setsid} and C{setpriv}; C{None} if not installed."""

    setsid: str | None = None
    setpriv: str | None = None

    def build_argv(self, command: ChildCommand) -> list[str | bytes]:
        """Return the command line that starts C{command}.

        @raise OSError: the command cannot run as its user.
        """
        if command.has_warden:
            return self._build_guarded(command)
        tie = make_parent_death_prefix(self.setpriv)
        if command.user is not None:
            return [*self._build_user_prefix(command.user), *command.argv]
        if command.family is ChildFamily.ALONE:
            return [*tie, *command.argv]
        if self.setsid is not None and command.name is None:
            return [self.setsid, *tie, *command.argv]
        return [*tie, *make_group_command([*map(os.fsdecode, command.argv)], command.name)]

    def _build_guarded(self, command: ChildCommand) -> list[str | bytes]:
        # The warden creates the session.
        user = [] if command.user is None else self._build_user_prefix(command.user)[1:]
        mode = [warden.CONTAIN] if command.is_contained else []
        return [sys.executable, "-I", "-S", warden.__file__, *mode, *user, *command.argv]

    def _build_user_prefix(self, user: ProcessIdentity) -> list[str]:
        if self.setsid is None or self.setpriv is None:
            raise OSError(errno.ENOENT, "setpriv and setsid of util-linux are missing")
        return make_user_prefix(self.setsid, self.setpriv, user)


def find_child_tools(path: str | None) -> ChildTools:
    """Return the tools in the folders of C{path}.  Blocks."""
    return ChildTools(*(shutil.which(name, path=path) for name in ("setsid", "setpriv")))


class ChildProcess(ProcessProtocol):
    """Single run of a command.  L{ChildRunner} starts it."""

    transport: IProcessTransport | None = None

    def __init__(
        self,
        clock: IReactorTime,
        command: ChildCommand,
        sink: Sink | None,
        on_errors: Callable[[bytes], object],
        kill_group: KillGroup,
    ) -> None:
        self.command = command
        self._sink = sink or self._store_output
        self._on_errors = on_errors
        self._kill_group = kill_group
        self._timers = NamedTimers(clock)
        self._pid: int | None = None
        self._output = bytearray()
        self._errors = b""
        self._is_truncated = self._is_timed_out = self._is_stopped = False
        self._is_ending = self._was_killed = False
        self._fault: Exception | None = None
        self._status: int | None = None
        self._signal: int | None = None
        self._result: ChildResult | None = None
        self._waiting: list[Deferred[ChildResult]] = []

    @property
    def has_ended(self) -> bool:
        """True once the result is known."""
        return self._result is not None

    def wait_ended(self) -> Deferred[ChildResult]:
        """Return a Deferred that fires with the result when the process has ended.

        Cancelling the Deferred does not stop the process.
        """
        if self._result is not None:
            return succeed(self._result)
        waiter: Deferred[ChildResult] = Deferred()
        self._waiting.append(waiter)
        return waiter

    def stop(self) -> None:
        """End the process before its time.  Do nothing if it has ended."""
        self._is_stopped = self._is_stopped or (not self._is_ending and not self.has_ended)
        self._end_process()

    # -- ProcessProtocol

    def connectionMade(self) -> None:
        assert self.transport is not None  # noqa: S101  # Twisted has just set it
        self._pid = self.transport.pid
        # The standard input of a warden tells it that this process lives.
        if isinstance(self.command.stdin, bytes) and not (
            self.command.is_silent or self.command.has_warden
        ):
            if self.command.stdin:
                self.transport.write(self.command.stdin)
            self.transport.closeStdin()
        if self.command.seconds is not None:
            self._timers.schedule_call(_LIMIT, self.command.seconds, self._handle_timeout)

    def outReceived(self, data: bytes) -> None:
        if self._is_truncated or self._fault is not None or self.has_ended:
            return
        try:
            self._is_truncated = not self._sink(data)
        except Exception as error:
            self._fault = error
        if self._is_truncated or self._fault is not None:
            self._kill_now()

    def errReceived(self, data: bytes) -> None:
        if not self.has_ended:
            self._errors = (self._errors + data)[-self.command.error_limit :]
            self._on_errors(data)

    def processExited(self, reason: Failure) -> None:
        end = reason.value
        if isinstance(end, ProcessTerminated):
            self._status, self._signal = end.exitCode, end.signal
        else:
            self._status = 0
        if self.command.family is ChildFamily.BOUND and not self._is_ending:
            self._send_signal(signal.SIGKILL)
        if self._was_killed:
            self._close_pipes()
        else:
            self._timers.schedule_call(_PIPES, self.command.pipe_seconds, self._close_pipes)

    def processEnded(self, reason: Failure) -> None:
        if self._is_ending and not self._was_killed and self._send_signal(0):
            return  # other processes of its group live until SIGKILL
        self._deliver_result()

    # -- inside

    def _store_output(self, data: bytes) -> bool:
        room = self.command.output_limit - len(self._output)
        self._output += data[:room]
        return len(data) <= room

    def _handle_timeout(self) -> None:
        self._is_timed_out = not self._is_ending
        self._end_process()

    def _end_process(self) -> None:
        if self._is_ending or self.has_ended:
            return
        if not self.command.term_seconds:
            self._kill_now()
            return
        self._is_ending = True
        self._timers.schedule_call(_KILL, self.command.term_seconds, self._kill_now)
        self._send_signal(signal.SIGTERM)

    def _kill_now(self) -> None:
        if self._was_killed or self.has_ended:
            return
        self._is_ending = self._was_killed = True
        self._timers.cancel_timer(_KILL)
        self._timers.schedule_call(_ABANDON, ABANDON_SECONDS, self._deliver_result, True)
        self._send_signal(signal.SIGKILL)
        if self.transport is not None and self.transport.pid is None:
            # It has exited; other processes may hold its pipes.
            self._close_pipes()
            self._deliver_result()

    def _send_signal(self, number: int) -> bool:
        """Send a signal to the process and its family.  Return true if the group has a process."""
        if self._pid is None:
            return False
        if self.command.family is not ChildFamily.ALONE and self._signal_group(number):
            return True
        # It is alone, has not made its group yet, or the rest of the group became another user's.
        if number and self.transport is not None and self.transport.pid is not None:
            with suppress(ProcessExitedAlready):
                self.transport.signalProcess(number)
        return False

    def _signal_group(self, number: int) -> bool:
        """Send a signal to the process group.  Return false if it has no process of this user."""
        assert self._pid is not None  # noqa: S101
        try:
            self._kill_group(self._pid, number)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    def _close_pipes(self) -> None:
        if self.transport is not None:
            self.transport.loseConnection()

    def _deliver_result(self, is_abandoned: bool = False) -> None:
        if self._result is not None:
            return
        self._timers.cancel_all()
        self._result = ChildResult(
            status=self._status,
            signal=self._signal,
            output=bytes(self._output),
            errors=self._errors,
            is_truncated=self._is_truncated,
            is_timed_out=self._is_timed_out,
            is_stopped=self._is_stopped,
            is_abandoned=is_abandoned,
            fault=self._fault,
        )
        if is_abandoned:
            self._close_pipes()
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            if not waiter.called:
                waiter.callback(self._result)


def _ignore_errors(data: bytes) -> None:
    """Do nothing: the result keeps the end of standard error."""


class ChildRunner:
    """Starts the child processes of one feature, and kills them when the feature stops.

    @ivar clock: measures the time limits.
    @ivar tools: programs with which processes are started.
    """

    def __init__(
        self,
        clock: IReactorTime,
        processes: IReactorProcess,
        tools: ChildTools = ChildTools(),
        *,
        kill_group: KillGroup = os.killpg,
        set_priority: SetPriority = os.setpriority,
    ) -> None:
        self.clock, self.tools = clock, tools
        self._processes = processes
        self._kill_group, self._set_priority = kill_group, set_priority
        self._running: set[ChildProcess] = set()

    @property
    def running(self) -> int:
        """Number of running processes."""
        return len(self._running)

    def start(
        self,
        command: ChildCommand,
        sink: Sink | None = None,
        on_errors: Callable[[bytes], object] = _ignore_errors,
    ) -> ChildProcess:
        """Start a process.

        @param sink: receives standard output; without one, the result contains it.
        @param on_errors: receives standard error.
        @raise OSError: the process cannot be started.
        """
        child = ChildProcess(self.clock, command, sink, on_errors, self._kill_group)
        argv = self.tools.build_argv(command)
        if any("\0" in os.fsdecode(word) for word in argv):
            raise OSError(errno.EINVAL, "an argument contains a NUL")
        with _open_descriptors(command) as descriptors:

            def spawn() -> None:
                # Another user must not read the keys of this process's user.
                with nullcontext() if command.user is None else use_fresh_keyring():
                    self._processes.spawnProcess(
                        child,
                        argv[0],
                        argv,
                        env=dict(command.env),
                        path=command.folder,
                        childFDs=descriptors,
                    )

            self._start_child(child, spawn)
        return child

    async def run(
        self,
        command: ChildCommand,
        sink: Sink | None = None,
        on_errors: Callable[[bytes], object] = _ignore_errors,
    ) -> ChildResult:
        """Start a process as L{start} does, and return its result.

        Cancelling kills the process.

        @raise OSError: the process cannot be started.
        """
        child = self.start(command, sink, on_errors)
        try:
            return await child.wait_ended()
        except CancelledError:
            child.stop()
            raise

    def stop(self) -> Deferred[None]:
        """End all processes.  The result fires after the last one has ended."""
        running = tuple(self._running)
        ends = [child.wait_ended() for child in running]
        for child in running:
            child.stop()
        return gatherResults(ends).addCallback(lambda results: None)

    def _start_child(self, child: ChildProcess, spawn: Callable[[], None]) -> None:
        command = child.command
        if command.restrict is None:
            spawn()
            release: Callable[[], None] = _do_nothing
        else:
            release = start_in_thread(command.restrict, spawn)
        self._running.add(child)

        def handle_end(result: ChildResult) -> None:
            self._running.discard(child)
            release()

        child.wait_ended().addCallback(handle_end)
        if command.niceness and child.transport is not None and child.transport.pid:
            # A child that is niced before it runs would keep the reactor waiting for its start.
            wanted = min(19, os.getpriority(os.PRIO_PROCESS, 0) + command.niceness)
            # A root without CAP_SYS_NICE cannot change the priority of another user's process.
            with suppress(PermissionError):
                self._set_priority(os.PRIO_PROCESS, child.transport.pid, wanted)


def _do_nothing() -> None:
    """Do nothing: no thread waits."""


@contextmanager
def _open_descriptors(command: ChildCommand) -> Iterator[dict[int, int | str]]:
    """Yield the descriptors of the process for C{spawnProcess}."""
    if not command.is_silent:
        given = command.stdin
        yield {0: given if isinstance(given, int) else "w", 1: "r", 2: "r"}
        return
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    try:
        yield dict.fromkeys((0, 1, 2), null)
    finally:
        os.close(null)
