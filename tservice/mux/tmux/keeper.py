"""Run a pane's program, outlive it by a moment, and end with the same status.

tmux drops pending output when the process that it started ends, so the last bytes of a program that
prints and exits would be lost. This process starts the program and waits for it. It reports the end
in the stream, lingers, and then ends with the same status or signal.

C{keeper.c} does the same as a small compiled program, used if it was built; both pass the same
tests. This module runs by file name in a bare interpreter (C{python -I -S}). It uses the standard
library only, with few imports, because each import delays the first prompt. All input comes by the
environment, which shows on no command line. Only the pane's own variables are passed on to the
program:

- C{TSERVICE_PANE_ARG0}..: the command; C{TSERVICE_PANE_CWD}: its folder
- C{TSERVICE_PANE_PREFACE}: an optional file to print first, and to remove
- C{TSERVICE_PANE_TOKEN}: proves that control messages in the stream come from this keeper
- C{TSERVICE_PANE_HISTORY}, C{_TERM}, C{_FG} and C{_BG}: for tmux.conf
- C{TSERVICE_PANE_ENV_<name>}: the pane's value of a variable that tmux overwrites

Control messages in the stream: C{ESC ] 7773 ; token ; word ; argument BEL}, which terminals ignore.
Their words are C{started;pid}, C{failed;errno}, C{exit;status} and C{signal;number}.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
"""Flag that type checkers know by its name. Importing C{typing} would take as long as the rest of
the module.
"""

if TYPE_CHECKING:
    import signal
    from collections.abc import Mapping
    from typing import NoReturn
else:
    # The public module converts this one to enumerations, at a third of this process's start time.
    import _signal as signal

LINGER = 1.0
"""Seconds that tmux and its clients get to pass the last output on."""

APART = 0.2
"""Seconds between closing the terminal and the end of this process."""

PREFIX = b"TSERVICE_PANE_"
ENV_PREFIX = PREFIX + b"ENV_"
OVERWRITTEN = (
    b"PATH",
    b"TERM",
    b"TERM_PROGRAM",
    b"TERM_PROGRAM_VERSION",
    b"TMUX",
    b"TMUX_PANE",
    b"PWD",
    b"SHELL",
    b"LINES",
    b"COLUMNS",
    b"LC_CTYPE",
)
"""Variables that tmux sets or may change in a pane's environment, and the one that Python sets for
itself.
"""

IGNORED = ("SIGINT", "SIGQUIT", "SIGTSTP", "SIGTTIN", "SIGTTOU")
"""Signals that the keeper ignores, because they are meant for the program in its process group."""


def pane_environment(found: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """Return the environment of the program exactly as the pane's spec defines it.

    @param found: the environment of the keeper.
    """
    kept = {
        name: value
        for name, value in found.items()
        if not name.startswith(PREFIX) and name not in OVERWRITTEN
    }
    own = {
        name.removeprefix(ENV_PREFIX): value
        for name, value in found.items()
        if name.startswith(ENV_PREFIX)
    }
    return {**kept, **own}


def read_command(found: Mapping[bytes, bytes]) -> list[bytes]:
    """Return the program and its arguments, from the environment of the keeper."""
    argv: list[bytes] = []
    while (value := found.get(PREFIX + b"ARG%d" % len(argv))) is not None:
        argv.append(value)
    return argv


def write_control_message(token: bytes, word: str, argument: int) -> None:
    """Write a control message into the stream. Ignore the error if the terminal is closed.

    @param word: name of the message, such as C{started}.
    @param argument: number in the message: pid, errno, exit status or signal.
    """
    try:
        os.write(1, b"\x1b]7773;%b;%b;%d\x07" % (token, word.encode(), argument))
    except OSError:
        return


def print_file(path: bytes) -> None:
    """Print a file and remove it. Ignore errors, so that the program still starts."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        os.unlink(path)
        while data := os.read(descriptor, 65536):
            while data:
                data = data[os.write(1, data) :]
        os.close(descriptor)
    except OSError:
        return


def start_program(argv: list[bytes], env: dict[bytes, bytes], cwd: bytes) -> int:
    """Start the program with default signal handling and return its pid.

    @raise OSError: the folder or the program does not exist.
    """
    os.chdir(cwd)
    if not argv:
        raise FileNotFoundError(2, "no program")
    path = env.get(b"PATH", os.defpath.encode())
    default = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
    for number in IGNORED:
        signal.signal(getattr(signal, number), signal.SIG_IGN)
    program = find_program(argv[0], path)
    return os.posix_spawn(program, argv, env, setsigdef=default, setsigmask=[])


def wait_for_program(pid: int) -> int:
    """Wait for the program, and forward a hangup of the terminal to it.

    The kernel sends the hangup only to the leader of the terminal's session and to the foreground.
    A shell expects to be the leader.

    @return: the status of C{waitpid}.
    """

    def handle_hangup(number: int, frame: object) -> None:
        # A stopped program must be continued to receive the signal.
        os.kill(pid, signal.SIGHUP)
        os.kill(pid, signal.SIGCONT)

    signal.signal(signal.SIGHUP, handle_hangup)
    # Until it is reaped, its pid cannot be reused.
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    _, status = os.waitpid(pid, 0)
    return status


def find_program(name: bytes, path: bytes) -> bytes:
    """Find the program C{name} in the C{PATH} of the pane, not of this process.

    @raise OSError: no executable of that name exists.
    """
    if b"/" in name:
        return name
    for folder in path.split(b":"):
        candidate = os.path.join(folder or b".", name)
        if os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return candidate
    raise FileNotFoundError(2, "no such program")


def linger_after_exit() -> None:
    """Wait until tmux has passed all output on, close the terminal, and wait again.

    If the terminal and the process end together, tmux 3.3a misses the end of its child. The exit
    status is then lost, in 15 to 35 of 100 times.
    """
    sleep_seconds(LINGER)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    for descriptor in range(3):
        os.close(descriptor)
    sleep_seconds(APART)


def sleep_seconds(seconds: float) -> None:
    """Sleep. Blocking is correct, because this process has no reactor."""
    signal.sigtimedwait((), seconds)


def exit_with_status(status: int) -> NoReturn:
    """End this process with the exit status or signal in C{status} (of C{waitpid})."""
    if os.WIFSIGNALED(status):
        import resource

        number = os.WTERMSIG(status)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.WEXITSTATUS(status))


def main() -> NoReturn:
    """Run the program that the keeper's environment describes."""
    found = dict(os.environb)
    token = found.get(PREFIX + b"TOKEN", b"")
    if preface := found.get(PREFIX + b"PREFACE"):
        print_file(preface)
    try:
        pid = start_program(
            read_command(found), pane_environment(found), found.get(PREFIX + b"CWD", b"/")
        )
    except OSError as error:
        write_control_message(token, "failed", error.errno or 0)
        linger_after_exit()
        sys.exit(127)
    write_control_message(token, "started", pid)
    status = wait_for_program(pid)
    if os.WIFSIGNALED(status):
        write_control_message(token, "signal", os.WTERMSIG(status))
    else:
        write_control_message(token, "exit", os.WEXITSTATUS(status))
    linger_after_exit()
    exit_with_status(status)


if __name__ == "__main__":
    main()
