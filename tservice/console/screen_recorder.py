"""The command C{tservice doctor --record}: record the screens of an agent CLI that a person uses.

The recording becomes tests of the screen rules; see C{tests/frames/import_recording.py}.
"""

from __future__ import annotations

import json
import re
import shutil
import socket
import tempfile
from pathlib import Path
from threading import Event, Thread

from attrs import define, field, frozen

from tservice.clis.interfaces import read_stored_registry
from tservice.console.redaction import find_secret_values, redact_capture
from tservice.console.terminal import CommandError, Terminal
from tservice.core.disk.files import write_private_file
from tservice.terminal.frames.ansi import plain_bytes

FORMAT = 1
SCREENS = 300
"""Maximum number of screens; later ones are not recorded."""
SCREEN_CHARS = 128 * 1024
PAUSE = 0.25
"""Seconds between two captures."""

_META = "#{pane_width} #{pane_height}|#{pane_title}"
_MOVING = re.compile(r"[\u2800-\u28ff◐-◓✢-✽·∙•●○◌◎◉0-9]")


@frozen(kw_only=True)
class RecordedScreen:
    """Screen at one moment.

    @ivar ansi: the capture with its styles.
    """

    title: str
    size: tuple[int, int]
    ansi: str

    @property
    def text(self) -> str:
        """The capture without styles."""
        return plain_bytes(self.ansi.encode()).decode("utf-8", "replace")


@define
class ScreenCollector:
    """Different screens in the order in which they were first seen.

    A screen that differs in digits and spinners only is the same one.
    """

    screens: list[RecordedScreen] = field(factory=list)
    _known: set[tuple[str, str]] = field(factory=set)

    def add(self, screen: RecordedScreen) -> None:
        """Add a screen, unless it is known, empty, or one too many."""
        key = (_MOVING.sub("", screen.title), _MOVING.sub("", screen.text))
        full = len(self.screens) >= SCREENS or len(screen.ansi) > SCREEN_CHARS
        if full or not screen.text.strip() or key in self._known:
            return
        self._known.add(key)
        self.screens.append(screen)


def parse_capture(output: str) -> RecordedScreen | None:
    """Return the screen in the output of tmux; C{None} if the pane is gone."""
    meta, _, ansi = output.partition("\n")
    size, _, title = meta.partition("|")
    match = re.fullmatch(r"(\d{1,5}) (\d{1,5})", size)
    if match is None:
        return None
    return RecordedScreen(title=title, size=(int(match[1]), int(match[2])), ansi=ansi)


def record_screens(cli: str, data_dir: Path, file: Path | None, terminal: Terminal) -> int:
    """Run an agent CLI in this terminal and write its screens to a file of mode 0600.

    @param cli: id of an entry of the CLI registry, or the name of a program.
    @param file: where to write; C{None} means C{<cli>-screens.json} in the current folder.
    @return: the exit status.
    @raise CommandError: the program or tmux is not installed, or there was no screen.
    """
    argv = _find_command(cli, data_dir, terminal)
    if shutil.which("tmux", path=terminal.environ.get("PATH")) is None:
        raise CommandError("tmux is not installed")
    collector = ScreenCollector()
    with tempfile.TemporaryDirectory(prefix="tservice-") as folder:
        tmux = ("env", "-u", "TMUX", "tmux", "-f", "/dev/null", "-S", f"{folder}/s")
        started = terminal.run((*tmux, "new-session", "-d", "-s", "r", *argv))
        if started.returncode:
            raise CommandError(f"tmux could not start {cli}: {started.stderr.strip()}")
        try:
            _capture_while_used(tmux, collector, terminal)
        finally:
            terminal.run((*tmux, "kill-server"))
    if not collector.screens:
        raise CommandError(f"{cli} showed no screen")
    target = file or Path(f"{Path(cli).name}-screens.json")
    write_private_file(target.absolute(), _format_recording(cli, argv, collector, terminal))
    terminal.print_line(
        f"{len(collector.screens)} screens are in {target}. Keys, tokens, e-mail addresses and your"
        " name were replaced by x. Read it before you give it to anybody."
    )
    return 0


def _find_command(cli: str, data_dir: Path, terminal: Terminal) -> tuple[str, ...]:
    entries = {entry.id: entry for entry in read_stored_registry(data_dir).entries}
    entry = entries.get(cli)
    names = (cli,) if entry is None else entry.binaries
    path = terminal.environ.get("PATH")
    found = next((which for name in names if (which := shutil.which(name, path=path))), None)
    if found is None:
        raise CommandError(f"{names[0]}: not found on PATH; known CLIs: {', '.join(entries)}")
    words = () if entry is None else entry.argv[entry.argv[0] in entry.binaries :]
    if any("{" in word for word in words):
        words = ()
    return (found, *words)


def _capture_while_used(
    tmux: tuple[str, ...], collector: ScreenCollector, terminal: Terminal
) -> None:
    """Attach this terminal until the program ends or the person detaches."""
    over = Event()

    def capture() -> None:
        while not over.is_set():
            look = ("display-message", "-p", "-t", "r:", _META, ";", "capture-pane", "-p", "-e")
            screen = parse_capture(terminal.run((*tmux, *look, "-t", "r:")).stdout)
            if screen is not None:
                collector.add(screen)
            over.wait(PAUSE)

    watcher = Thread(target=capture, name="screen-recorder")
    watcher.start()
    try:
        terminal.replace((*tmux, "attach-session", "-t", "r"))
    finally:
        over.set()
        watcher.join()


def _format_recording(
    cli: str, argv: tuple[str, ...], collector: ScreenCollector, terminal: Terminal
) -> str:
    version = terminal.run((argv[0], "--version")).stdout.strip()[:200]
    names = (
        str(terminal.home),
        terminal.home.name,
        terminal.environ.get("USER", ""),
        socket.gethostname(),
    )
    values = find_secret_values(terminal.environ, names)
    screens = [
        {
            "title": redact_capture(screen.title, values),
            "size": list(screen.size),
            "ansi": redact_capture(screen.ansi, values),
        }
        for screen in collector.screens
    ]
    found = {
        "format": FORMAT,
        "cli": cli,
        "version": redact_capture(version, values),
        "screens": screens,
    }
    return json.dumps(found, ensure_ascii=False, indent=1) + "\n"
