"""Keep screens of a CLI as files, with the facts that a label needs beside them.

The judgement, what a person sees on the screen, is written by hand afterwards
(tests/frames/README.rst); this writes only what tmux knows::

    python -m tests.agents.recording.recorder FOLDER CLI COLUMNSxROWS [SCENE ...]
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import socket
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.agents.cli_cache import install_cli
from tests.agents.harness import AgentEnvironmentHarness
from tests.agents.netns import loopback_only
from tests.agents.panes import AgentPane

SETTLE = 0.4
"""Seconds after the awaited text until the rest of the frame is drawn."""

SCRATCH = Path("/tmp/demo")
"""Where the recorded agents work: the path shows on their screens."""


class ScreenRecorder:
    """Writes C{<size>_<name>.txt}, C{.ansi.txt} and the facts in C{facts.json}."""

    def __init__(
        self, folder: Path, world: AgentEnvironmentHarness, binary: str, size: tuple[int, int]
    ) -> None:
        self.world, self.size, self._binary = world, size, binary
        self._folder = folder / world.cli
        self._folder.mkdir(parents=True, exist_ok=True)

    def start(self, *arguments: str, **options: Any) -> AgentPane:
        """The CLI at this recorder's size."""
        return self.world.start(self._binary, *arguments, size=self.size, **options)

    def keep(self, pane: AgentPane, name: str, settle: float = SETTLE) -> None:
        """Save the screen."""
        time.sleep(settle)
        screen = pane.look()
        stem = f"{self.size[0]}x{self.size[1]}_{name}"
        rows = screen.text.rstrip("\n") + "\n"
        (self._folder / f"{stem}.txt").write_text(rows, "utf-8")
        (self._folder / f"{stem}.ansi.txt").write_text(screen.ansi.rstrip("\n") + "\n", "utf-8")
        facts = self._folder / "facts.json"
        known = json.loads(facts.read_text("utf-8")) if facts.exists() else {}
        title = screen.title.replace(socket.gethostname(), "host")
        known[stem] = {"title": title, "size": list(self.size)}
        facts.write_text(json.dumps(known, indent=1, ensure_ascii=False), "utf-8")


Scene = Callable[[ScreenRecorder], None]


def record(
    folder: Path, cli: str, size: tuple[int, int], wanted: list[str], binary: Path | None = None
) -> int:
    """Play the scenes of a CLI, each in a world of its own; how many failed.

    @param binary: another one than the cache's.
    """
    module = importlib.import_module(f"tests.agents.recording.{cli}")
    scenes: Mapping[str, Scene] = module.SCENES
    played = str(binary or install_cli(cli, os.environ).binary)
    failed = 0
    for name in wanted or list(scenes):
        shutil.rmtree(SCRATCH, ignore_errors=True)
        with (
            loopback_only() as isolated,
            AgentEnvironmentHarness(cli, SCRATCH, isolated=isolated) as world,
        ):
            try:
                scenes[name](ScreenRecorder(folder, world, played, size))
            except TimeoutError as why:
                failed += 1
                print(f"{cli} {size} {name}: {why}", file=sys.stderr)
    return failed


def main(arguments: list[str]) -> int:
    """Run from the command line; the status counts scenes that failed."""
    folder, cli, size, *scenes = arguments
    columns, _, rows = size.partition("x")
    os.environ.setdefault("TZ", "UTC")
    return record(Path(folder), cli, (int(columns), int(rows)), scenes)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
