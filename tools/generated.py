"""Write the code that is generated from C{docs/openapi.json} and C{docs/events.json}.

The Python client's operations and the types of the browser UI are not committed. C{setup.py}, the
Makefile and the tests call this module, which needs the standard library only.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from tools import pyclient
from tools.typescript import web_summaries, web_types

ROOT = Path(__file__).resolve().parents[1]
CLIENT = Path("tservice/client/typed")
WEB_TYPES = Path("web/src/api/types.ts")
WEB_SUMMARIES = Path("web/src/api/summaries.ts")


def make_generated_code(root: Path = ROOT) -> dict[Path, str]:
    """Return the text of each generated file, by its path below C{root}."""
    document = json.loads((root / "docs/openapi.json").read_text("utf-8"))
    events = json.loads((root / "docs/events.json").read_text("utf-8"))
    client = pyclient.files(document)
    return {
        **{CLIENT / name: text for name, text in client.items()},
        WEB_TYPES: web_types(document, events),
        WEB_SUMMARIES: web_summaries(document),
    }


def write_generated_code(root: Path = ROOT) -> None:
    """Write each generated file that differs, and remove those of tags that no longer exist."""
    found = make_generated_code(root)
    for path, text in found.items():
        file = root / path
        if not file.exists() or file.read_text("utf-8") != text:
            file.parent.mkdir(parents=True, exist_ok=True)
            # Several processes may write at the same time, and others read.
            part = file.with_name(f".{file.name}.{os.getpid()}")
            part.write_text(text, "utf-8")
            part.replace(file)
    for file in (root / CLIENT).glob("*.py"):
        if file.name != "__init__.py" and file.relative_to(root) not in found:
            file.unlink(missing_ok=True)


if __name__ == "__main__":
    write_generated_code()
