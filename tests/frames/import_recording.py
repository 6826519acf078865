"""Turn a recording of C{tservice doctor --record} into recorded screens with labels to fill in.

::

    python -m tests.frames.import_recording FILE CLI [SERIES]

writes C{CLI/SERIES/<nn>.txt} and C{.ansi.txt}, and C{labels.yaml} with a line for each screen. Its
states are C{?}: look at each picture, write what a person sees, and delete the pictures that say
nothing new. The tests fail until then. A CLI without rules gets its rule set in C{rules.yaml}.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.frames import HERE
from tservice.terminal.frames.ansi import plain_bytes

FORMAT = 1


class UnknownRecording(Exception):
    """The file is no recording that this version can read."""


def import_recording(file: Path, cli: str, series: str, root: Path = HERE) -> list[Path]:
    """Write the screens of a recording and their labels; return the files.

    @raise UnknownRecording: the file has another format.
    @raise FileExistsError: the series exists.
    """
    found: dict[str, Any] = json.loads(file.read_text("utf-8"))
    if found.get("format") != FORMAT:
        raise UnknownRecording(f"{file}: format {found.get('format')!r} is not {FORMAT}")
    folder = root / cli / series
    folder.mkdir(parents=True)
    written, labels = [], [f"# {found['cli']} {found['version']}"]
    for number, screen in enumerate(found["screens"], 1):
        name, ansi = f"{number:03}", screen["ansi"].encode()
        for path, content in (
            (folder / f"{name}.txt", plain_bytes(ansi)),
            (folder / f"{name}.ansi.txt", ansi),
        ):
            path.write_bytes(content)
            written.append(path)
        title = json.dumps(screen["title"], ensure_ascii=False)
        labels.append(f'"{name}": {{state: "?", title: {title}, size: {screen["size"]}}}')
    path = folder / "labels.yaml"
    path.write_text("\n".join(labels) + "\n", "utf-8")
    return [*written, path]


def main(words: list[str]) -> int:
    """Run as a program."""
    if not 2 <= len(words) <= 3:
        print(__doc__, file=sys.stderr)
        return 2
    file, cli, *rest = words
    written = import_recording(Path(file), cli, rest[0] if rest else "recorded")
    print(f"{len(written) // 2} screens; now write what a person sees into {written[-1]}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
