"""Runs a pane's program, outlives it by a moment, and ends as it ended.

tmux drops what it has not yet passed on when the process that it started ends, so the last bytes
of a program that prints and exits would be lost.  This process starts the program, waits for it,
says in the stream that it is over, lingers, and then ends with the same status or signal.

C{keeper.c} is the same as a small program, used where one was built; both pass the same tests.
This one runs by file name in a bare interpreter (C{python -I -S}): standard library only, few
imports, since each one is time to the first prompt.  Everything comes in by the environment, which
shows on no command line; nothing of it but the pane's own variables goes on to the program:

  - C{TSERVICE_PANE_ARG0}..: the command; C{TSERVICE_PANE_CWD}: its folder
  - C{TSERVICE_PANE_PREFACE}: a file to print before that, and to remove; there need not be one
  - C{TSERVICE_PANE_TOKEN}: makes the words in the stream this keeper's
  - C{TSERVICE_PANE_HISTORY}, C{_TERM}, C{_FG} and C{_BG}: for tmux.conf
  - C{TSERVICE_PANE_ENV_<name>}: a variable that tmux overwrites, as the pane shall have it

Words in the stream: C{ESC ] 7773 ; token ; word ; argument BEL}, which terminals ignore.
C{started;pid}, C{failed;errno}, C{exit;status} and C{signal;number}.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
"""Known to type checkers by its name; importing C{typing} would cost as much as all the rest."""

if TYPE_CHECKING:
    import signal
    from collections.abc import Mapping
    from typing import NoReturn
else:
    # The public module makes enumerations of this one, at a third of this process's start.
    import _signal as signal

LINGER = 1.0
"""Seconds for tmux to pass the last bytes on, and for a client to take them."""

APART = 0.2
"""Seconds between the end of the terminal and that of this process."""

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
"""What tmux puts into a pane's environment or may change there, and what Python does to itself."""

IGNORED = ("SIGINT", "SIGQUIT", "SIGTSTP", "SIGTTIN", "SIGTTOU")
"""Meant for the program: it shares this process group, so that the terminal's keys reach it."""


def pane_environment(found: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """The program's environment: what it was meant to be, exactly."""
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


def command(found: Mapping[bytes, bytes]) -> list[bytes]:
    """The program and its arguments."""
    argv: list[bytes] = []
    while (value := found.get(PREFIX + b"ARG%d" % len(argv))) is not None:
        argv.append(value)
    return argv


def say(token: bytes, word: str, argument: int) -> None:
    """Put a word into the stream; a terminal that is gone needs none."""
    try:
        os.write(1, b"\x1b]7773;%b;%b;%d\x07" % (token, word.encode(), argument))
    except OSError:
        return


def show(path: bytes) -> None:
    """Print a file and remove it; the program starts all the same where that cannot be done."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        os.unlink(path)
        while data := os.read(descriptor, 65536):
            while data:
                data = data[os.write(1, data) :]
        os.close(descriptor)
    except OSError:
        return


def start(argv: list[bytes], env: dict[bytes, bytes], cwd: bytes) -> int:
    """Start the program with every signal as a program expects it.

    @raise OSError: no such folder or no such program.
    """
    os.chdir(cwd)
    if not argv:
        raise FileNotFoundError(2, "no program")
    path = env.get(b"PATH", os.defpath.encode())
    default = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
    for number in IGNORED:
        signal.signal(getattr(signal, number), signal.SIG_IGN)
    program = find(argv[0], path)
    return os.posix_spawn(program, argv, env, setsigdef=default, setsigmask=[])


def wait_for(pid: int) -> int:
    """Wait for the program, and tell it meanwhile when the terminal is gone.

    The system tells the leader of the terminal's session, which a shell expects to be, and what
    is in the foreground.

    @return: the status of C{waitpid}.
    """

    def hung_up(number: int, frame: object) -> None:
        # A stopped program must go on to hear of it.
        os.kill(pid, signal.SIGHUP)
        os.kill(pid, signal.SIGCONT)

    signal.signal(signal.SIGHUP, hung_up)
    # Until it is waited for in earnest nobody else can have its number.
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    _, status = os.waitpid(pid, 0)
    return status


def find(name: bytes, path: bytes) -> bytes:
    """Look C{name} up in the pane's own C{PATH}, not in this process's.

    @raise OSError: nothing there can be run.
    """
    if b"/" in name:
        return name
    for folder in path.split(b":"):
        candidate = os.path.join(folder or b".", name)
        if os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return candidate
    raise FileNotFoundError(2, "no such program")


def linger() -> None:
    """Wait until everything was passed on, then leave the terminal, then wait again.

    tmux 3.3a misses that its child has ended if it happens while it deals with the closed
    terminal (15 to 35 of 100 times when both come together), and with it the status.
    """
    wait(LINGER)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    for descriptor in range(3):
        os.close(descriptor)
    wait(APART)


def wait(seconds: float) -> None:
    """There is no reactor in this process, and nothing else to do."""
    signal.sigtimedwait((), seconds)


def end_as(status: int) -> NoReturn:
    """End this process the way that C{status} (of C{waitpid}) tells."""
    if os.WIFSIGNALED(status):
        import resource

        number = os.WTERMSIG(status)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.WEXITSTATUS(status))


def main() -> NoReturn:
    """Run the program of this environment."""
    found = dict(os.environb)
    token = found.get(PREFIX + b"TOKEN", b"")
    if preface := found.get(PREFIX + b"PREFACE"):
        show(preface)
    try:
        pid = start(command(found), pane_environment(found), found.get(PREFIX + b"CWD", b"/"))
    except OSError as error:
        say(token, "failed", error.errno or 0)
        linger()
        sys.exit(127)
    say(token, "started", pid)
    status = wait_for(pid)
    if os.WIFSIGNALED(status):
        say(token, "signal", os.WTERMSIG(status))
    else:
        say(token, "exit", os.WEXITSTATUS(status))
    linger()
    end_as(status)


if __name__ == "__main__":
    main()
