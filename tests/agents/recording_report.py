"""A new version of a CLI: what is read differently on its screens than on those that are known.

Installs it, plays the scenes of C{tests.agents.recording}, keeps the screens in a folder and tells
of each what changed against the recording of the same scene in C{tests/frames}::

    python -m tests.agents.recording_report codex@0.170.0
    python -m tests.agents.recording_report gemini@latest --scenes trust approval --folder
    /tmp/gemini
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from tests.agents.cli_cache import CLIS, CliUnavailable, install_version
from tests.agents.recording.recorder import record
from tests.frames import load
from tests.frames.score import RULES
from tservice.terminal.dialogs.trust import choose_next_key
from tservice.terminal.frames.screen_frame import ScreenFrame
from tservice.terminal.model_name import find_displayed_model
from tservice.terminal.screen_status import read_screen

SIZE = (120, 40)


@frozen(kw_only=True)
class CapturedFrame:
    """A screen as it was captured."""

    data: bytes
    title: str
    size: tuple[int, int]


def read_sight(sight: CapturedFrame, cli: str) -> dict[str, object]:
    """What the rules of C{cli} read on a screen."""
    rules = RULES[cli]
    frame = ScreenFrame.from_capture(sight.data, sight.size[0])
    found = read_screen(frame, sight.title, rules)
    dialog = found.dialog
    told: dict[str, object] = {
        "state": found.state,
        "composer": found.composer_ready,
        "model": find_displayed_model(frame, rules),
        "trust key": choose_next_key(frame, rules),
        "limit": bool(found.limit),
    }
    if dialog is not None:
        told |= {
            "kind": str(dialog.kind),
            "question": dialog.question,
            "options": [option.label for option in dialog.options],
            "selected": dialog.selected_option.n if dialog.selected_option else None,
            "digits": dialog.digits_answer,
        }
    return told


def describe_differences(old: Mapping[str, object], new: Mapping[str, object]) -> Iterator[str]:
    """What is read otherwise, one line each."""
    for name in dict.fromkeys([*old, *new]):
        if old.get(name) != new.get(name):
            yield f"{name}: {old.get(name)!r} -> {new.get(name)!r}"


def known_screens(cli: str) -> dict[str, CapturedFrame]:
    """The recorded screens by the names of their scenes."""
    return {
        each.name: CapturedFrame(data=each.best, title=each.label.title, size=each.label.size)
        for each in load()
        if each.cli == cli
    }


def recorded_screens(folder: Path, cli: str) -> dict[str, CapturedFrame]:
    """The screens that were kept just now."""
    place = folder / cli
    facts: dict[str, Any] = json.loads((place / "facts.json").read_text("utf-8"))
    return {
        name: CapturedFrame(
            data=(place / f"{name}.ansi.txt").read_bytes(),
            title=fact["title"],
            size=(fact["size"][0], fact["size"][1]),
        )
        for name, fact in facts.items()
    }


def compare_screens(
    cli: str, old: Mapping[str, CapturedFrame], new: Mapping[str, CapturedFrame]
) -> list[str]:
    """The report; empty where everything is read as before."""
    lines: list[str] = []
    for name, sight in new.items():
        now = read_sight(sight, cli)
        if name not in old:
            lines.append(f"{name}: not among the known screens; read as {now}")
            continue
        lines += [
            f"{name}: {each}" for each in describe_differences(read_sight(old[name], cli), now)
        ]
    return lines


def main() -> int:
    """Print the report; the status is 1 where something is read otherwise or did not come up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cli", help="name@version")
    parser.add_argument("--scenes", nargs="*", default=[])
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    name, _, version = given.cli.partition("@")
    if name not in CLIS or not version:
        parser.error(f"one of {', '.join(CLIS)}, @ and a version")
    folder = given.folder or Path(tempfile.mkdtemp(prefix=f"fresh-{name}-"))
    try:
        found = install_version(name, version, os.environ)
    except CliUnavailable as why:
        print(f"not tried: {why}")
        return 1
    failed = record(folder, name, SIZE, given.scenes, found.binary)
    lines = compare_screens(name, known_screens(name), recorded_screens(folder, name))
    print(f"{name} {found.version}: {failed} scenes did not play, {len(lines)} differences")
    print("\n".join(f"  {line}" for line in lines))
    print(f"The screens are in {folder}.")
    return 1 if failed or lines else 0


if __name__ == "__main__":
    sys.exit(main())
