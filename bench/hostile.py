"""Processor time for texts that once took the square of their length, or a parser for ever.

Each is the largest or worst text of its kind that the service reads in one turn.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
import unittest
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from bench.report import Row
from tests.integration.harness import DaemonHarness
from tests.integration.mux.test_fake_server import FakeServerTests
from tests.runtime_harness import build_test_runtime
from tservice.agents.transcripts.conversation_access import read_new_messages
from tservice.agents.transcripts.model import ReadPosition
from tservice.agents.transcripts.prompt_ledger import hash_prompt
from tservice.clis.build import build_clis
from tservice.clis.stock_entries import load_stock_entries
from tservice.core.logs.redact import SecretRedactor
from tservice.git.references import has_reference
from tservice.git.search import recognise_repository
from tservice.mcp.config_files import find_config_files
from tservice.mcp.survey import survey_files
from tservice.terminal.composers.composer import (
    ComposerRule,
    read_composer_text,
    shows_quoted_dialog,
)
from tservice.terminal.frames.cell_styles import STYLE_BYTES, read_styles

TURN = 0.25
"""Seconds of processor time in one turn of the reactor."""

RUNS = 3

Case = tuple[str, float, Callable[[], object]]
"""A name, the seconds of processor time that are allowed, and what is measured."""

DEEP = "[" + ".".join("a" * 31) + "]\n"
TOML = {
    "parts and keys": "[" + ".".join("a" * 20_000) + "]\n" + "k = 1\n" * 20_000,
    "parts": ".".join("a" * 40_000) + " = 1",
    "parts apart": " . ".join("a" * 40_000) + " = 1",
    "quoted parts": ".".join(['"a b"'] * 20_000) + " = 1",
    "keys": DEEP + "".join(f"k{i} = 1\n" for i in range(30_000)),
    "nesting": "a = " + "[" * 50_000,
    "word": "a" * 250_000,
    "quotes": "'" * 250_000,
    "size": "#" * 2_000_000,
}
NEVER_CLOSED = {"string": '"' + '\\"' * 20_000, "comment": "/**" + " /" * 200_000}


def screens() -> Iterator[Case]:
    """Rows that are mostly gaps, frames of style changes, and a control sequence without an end."""
    rule = ComposerRule(glyph=">")
    for number, row in enumerate(("a" + " " * 498 + "a", "│" + " " * 498 + "a", "│ " * 250)):
        rows = [row] * 200
        yield f"screen of gaps {number}", 0.2, partial(read_composer_text, rows, rule)
        yield f"quoted screen {number}", 0.2, partial(shows_quoted_dialog, rows, "1. a")
    for number, change in enumerate(
        (b"\x1b[m", b"\x1b[%b1m" % (b"1;" * 127), b"\x1b[%b1m" % (b"4:3;" * 63))
    ):
        frame = (change + b"x") * (STYLE_BYTES // len(change))
        yield f"frame of style changes {number}", TURN, partial(read_styles, frame)
    codes = b"\x1b[%bm" % (b"1;" * 500_000)
    yield "control sequence of a million codes", TURN, partial(read_styles, codes)


def texts() -> Iterator[Case]:
    """White space and long words."""
    redactor = SecretRedactor()
    for blank in (" ", "\n", "\t \n"):
        text = "a" + blank * 300_000 + "b"
        yield f"mark of {blank!r}", 1, partial(hash_prompt, text)
    for word in ("a", "a.", "a://", "a:", "://a", "@"):
        text = word * 100_000
        yield f"log line of {word!r}", 1, partial(redactor.redact_text, text)


def files(top: Path) -> Iterator[Case]:
    """Files that anybody may have put into a home folder or a repository."""
    home = top / "home"
    (home / "data").mkdir(parents=True)
    registry = build_clis(build_test_runtime(home, home=home, environ={"HOME": str(home)})).service
    config = _written(home / ".codex" / "config.toml")
    for name, content in TOML.items():
        config.write_text('model = "m"\n' + content)
        yield (
            f"TOML of {name}",
            2,
            lambda: registry.read_configured_model("codex", {"HOME": str(home)}),
        )
    entries = sorted(load_stock_entries().values(), key=lambda entry: entry.order)
    settings = [
        _written(home / ".gemini" / "settings.json"),
        _written(home / ".config/opencode/opencode.json"),
    ]
    for name, content in NEVER_CLOSED.items():
        for path in settings:
            path.write_text(content)
        known = find_config_files(
            entries, home, {}, lambda entry: entry.id in ("gemini", "opencode")
        )
        yield f"MCP settings, {name} never closed", 1, partial(survey_files, known)
    yield from _repository(top / "work")
    hole = top / "hole.jsonl"
    with hole.open("wb") as file:
        file.truncate(4 << 40)
    yield (
        "transcript with a hole",
        5,
        lambda: read_new_messages(ReadPosition(path="", ended=False), hole, "codex"),
    )


def _repository(work: Path) -> Iterator[Case]:
    subprocess.run(["git", "init", "-q", str(work)], check=True)
    repository = recognise_repository(os.fsencode(work))
    assert repository is not None
    packed = work / ".git" / "packed-refs"
    for line in ("a\n", " refs/heads/x\n"):
        packed.write_text(line * (8 * 1024 * 1024 // len(line)))
        yield f"packed references of {line!r}", 2, lambda: has_reference(repository, "x")


def _written(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def liars() -> Iterator[Row]:
    """Yield the longest turn of the reactor while a false tmux server sends streams without end."""
    case = FakeServerTests("test_endless_streams_of_a_hostile_server_are_bounded")
    result = unittest.TestResult()
    case.run(result)
    if not result.wasSuccessful():
        raise AssertionError("\n".join(text for _, text in result.failures + result.errors))
    for scenario, seconds in case.longest.items():
        yield Row(
            name=f"longest turn, {scenario}",
            ours=seconds,
            peer=TURN,
            unit="s",
            against="limit",
            at_most=1.0,
        )


def _time_once(work: Callable[[], object]) -> float:
    begun = time.thread_time()
    work()
    return time.thread_time() - begun


def _measured(cases: Iterator[Case]) -> Iterator[Row]:
    for name, limit, work in cases:
        yield Row(
            name=name,
            # What the machine adds differs from run to run: the least is the program's own.
            ours=min(_time_once(work) for _ in range(RUNS)),
            peer=limit,
            unit="s",
            against="limit",
            at_most=1.0,
        )


def run(_: DaemonHarness) -> list[Row]:
    """Return one row for each text."""
    with tempfile.TemporaryDirectory(prefix="ts") as folder:
        return [
            *_measured(screens()),
            *_measured(texts()),
            *_measured(files(Path(folder))),
            *liars(),
        ]
