"""A private tmux server with one pane, driven and read by a test."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from attrs import frozen

from tests.waiting import PATIENCE

POLL = 0.03
"""Seconds between two looks at the screen while waiting for something."""

SHORT = 40
"""Characters of a paste that every client shows as they are, on one row."""

ENDS = 20
"""Characters of either end of a longer one, of which a client shows one or the other."""

_PLACEHOLDER = re.compile(r"\[paste", re.IGNORECASE)
"""What the clients draw in place of a long paste: [Pasted text #1 +4 lines], [paste #1 ...]."""

CLOSING = PATIENCE
"""Seconds that a tmux server may take to end."""

_PLACE = "#{cursor_x} #{cursor_y} #{alternate_on} #{pane_dead} #{pane_dead_status}|#{pane_title}"
_BETWEEN = "== the same with its colours =="
_LOOK = (
    *("display-message", "-p", _PLACE, ";", "capture-pane", "-p", ";"),
    *("display-message", "-p", _BETWEEN, ";", "capture-pane", "-p", "-e"),
)


@frozen(kw_only=True)
class PaneScreen:
    """What one look at the pane showed.

    @ivar text: C{capture-pane -p}.
    @ivar ansi: C{capture-pane -p -e}.
    @ivar cursor: column and row from 0.
    @ivar status: exit status of a dead pane.
    """

    text: str
    ansi: str
    title: str
    cursor: tuple[int, int]
    alternate: bool
    dead: bool
    status: int | None

    @property
    def rows(self) -> list[str]:
        """The rows without their trailing blanks."""
        return [row.rstrip() for row in self.text.splitlines()]


class AgentPane:
    """One program in a tmux server of its own; a context manager that ends both."""

    def __init__(
        self,
        folder: Path,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        size: tuple[int, int] = (120, 40),
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._socket = folder / "pane.sock"
        if len(os.fsencode(self._socket)) > 100:
            raise ValueError(f"too long for a socket's path: {self._socket}")
        # A dead program's last screen and status stay readable.
        self._config = folder / "pane.conf"
        self._config.write_text("set -g remain-on-exit on\n", "utf-8")
        columns, rows = map(str, size)
        started = ["new-session", "-d", "-x", columns, "-y", rows, "-c", str(cwd)]
        self.tmux(*started, "--", "env", "-u", "TMUX", "-u", "TMUX_PANE", *argv, env=env)
        self._server = int(self.tmux("display-message", "-p", "#{pid}"))

    def __enter__(self) -> AgentPane:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def tmux(self, *arguments: str, env: Mapping[str, str] | None = None, given: str = "") -> str:
        """Run a tmux command in this server.

        @raise RuntimeError: tmux refused it.
        """
        ran = subprocess.run(
            ["tmux", "-u", "-f", str(self._config), "-S", str(self._socket), *arguments],
            input=given,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="surrogateescape",
            check=False,
            env=None if env is None else dict(env),
            timeout=PATIENCE,
        )
        if ran.returncode:
            raise RuntimeError(f"tmux {arguments[0]}: {ran.stderr.strip()}")
        return ran.stdout

    def look(self) -> PaneScreen:
        """The screen now, all of it at one moment."""
        told, _, shown = self.tmux(*_LOOK).partition("\n")
        text, _, ansi = shown.partition(f"{_BETWEEN}\n")
        place, _, title = told.partition("|")
        column, row, alternate, dead, *status = place.split(" ")
        return PaneScreen(
            text=text,
            ansi=ansi,
            title=title,
            cursor=(int(column), int(row)),
            alternate=alternate == "1",
            dead=dead == "1",
            status=int(status[0]) if status and status[0] else None,
        )

    def wait(self, pattern: str, timeout: float = PATIENCE) -> PaneScreen:
        """Look until a row matches.

        @raise TimeoutError: none did; the message holds the last screen.
        """
        return self._until(lambda screen: re.search(pattern, screen.text, re.M), pattern, timeout)

    def wait_gone(self, pattern: str, timeout: float = PATIENCE) -> PaneScreen:
        """Look until no row matches."""
        return self._until(
            lambda screen: not re.search(pattern, screen.text, re.M), f"no {pattern}", timeout
        )

    def wait_title(self, pattern: str, timeout: float = PATIENCE) -> PaneScreen:
        """Look until the title matches."""
        return self._until(lambda screen: re.search(pattern, screen.title), pattern, timeout)

    def wait_dead(self, timeout: float = PATIENCE) -> PaneScreen:
        """Look until the program ended and its status is known.

        tmux 3.3a sometimes misses the end of a child: the pane is dead, its
        process a zombie, the status unknown, until another child ends.
        """
        self._until(lambda screen: screen.dead, "the end", timeout)
        self.tmux("run-shell", "true")
        return self._until(lambda screen: screen.status is not None, "exit status", timeout)

    def _until(
        self, holds: Callable[[PaneScreen], object], what: str, timeout: float
    ) -> PaneScreen:
        end = time.monotonic() + timeout
        while True:
            screen = self.look()
            if holds(screen):
                return screen
            if time.monotonic() > end:
                shown = screen.text.rstrip()
                raise TimeoutError(f"no {what!r} in {timeout} s; title {screen.title!r}:\n{shown}")
            time.sleep(POLL)

    def settle(self, seconds: float) -> None:
        """Leave the client alone for as long as a person would, before the next key.

        Nothing on a screen tells that keys are safe, and some clients never stop drawing.
        """
        time.sleep(seconds)

    def everything(self) -> str:
        """The screen with its history: the notice of a dead pane pushes a row into it."""
        return self.tmux("capture-pane", "-p", "-S", "-")

    def keys(self, *names: str) -> None:
        """Send keys by their tmux names, all in one write."""
        self.tmux("send-keys", *names)

    def type(self, text: str) -> None:
        """Send text as if typed."""
        self.tmux("send-keys", "-l", "--", text)

    def paste(self, text: str, *, bracketed: bool = True) -> None:
        """Paste text; C{bracketed} asks for the markers where the program wants them."""
        self.tmux("load-buffer", "-b", "paste", "-", given=text)
        flags = ["-p"] if bracketed else []
        self.tmux("paste-buffer", *flags, "-r", "-d", "-b", "paste")

    def submit(self, text: str, gap: float = 0.5) -> None:
        """Paste text, wait until it shows and the safe gap, press Enter.

        A client that had no time to read the paste yet loses the Enter behind it.
        """
        before = self.look().text
        self.paste(text)
        self._until(
            lambda screen: _paste_is_shown(screen.text, text, before), "the pasted text", PATIENCE
        )
        self.settle(gap)
        self.keys("Enter")

    def close(self) -> None:
        """End the server, and with it the program; returns once it is gone.

        @raise TimeoutError: it did not go within L{CLOSING} seconds.
        """
        with suppress(subprocess.TimeoutExpired):
            subprocess.run(
                ["tmux", "-S", str(self._socket), "kill-server"],
                capture_output=True,
                check=False,
                timeout=CLOSING,
            )
        end = time.monotonic() + CLOSING
        while _is_running(self._server):
            if time.monotonic() > end:
                raise TimeoutError(f"tmux server {self._server} is still there")
            time.sleep(POLL)


def _paste_is_shown(now: str, text: str, before: str) -> bool:
    """Whether a paste is on the screen: as it is, or as what a client draws in its place."""
    # A client that draws something else meanwhile has not read the paste yet.
    short = len(text) <= SHORT and "\n" not in text
    signs = [text] if short else [text.split("\n")[0][:ENDS], text.split("\n")[-1][-ENDS:]]
    more = len(_PLACEHOLDER.findall(now)) > len(_PLACEHOLDER.findall(before))
    return more or any(
        _without_blanks(now).count(each) > _without_blanks(before).count(each)
        for each in map(_without_blanks, signs)
        if each
    )


def _without_blanks(text: str) -> str:
    """Without white space: Claude Code draws a space behind the sign of its shell mode."""
    return "".join(text.split())


def _is_running(process: int) -> bool:
    """Whether the process is there and is not merely waiting to be reaped."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text("utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
