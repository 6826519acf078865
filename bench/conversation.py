"""Conversations: how soon one opens, how soon an appended line is told, how it scrolls, and what
following two hundred costs at rest.
"""

from __future__ import annotations

import json
import re
import time
import uuid
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from bench.footprint import cpu_percent
from bench.report import Row, percentile
from tests.browser.chromium import ARGUMENTS, chromium_path
from tests.integration.agents.harness import played_daemon
from tests.integration.events import EventLog
from tests.integration.harness import DaemonHarness

TURNS = 10_000
APPENDS = 40
FOLLOWED = 200
WATCHED = 20.0
SCROLL = """async () => {
  const view = document.querySelector("[data-testid=conversation-view]");
  const frames = [];
  let last = performance.now();
  for (let n = 0; n < 240; n += 1) {
    view.scrollTop -= 60;
    await new Promise((done) => requestAnimationFrame(done));
    const now = performance.now();
    frames.push(now - last);
    last = now;
  }
  return frames;
}"""
OPEN = """() => {
  const begun = performance.now();
  const look = (done) => {
    const answers = document.querySelectorAll("[data-testid=conversation-answer]");
    if (answers.length > 0) done(performance.now() - begun);
    else requestAnimationFrame(() => look(done));
  };
  document.querySelector("[data-testid=conversation-read]").click();
  return new Promise(look);
}"""


def _turn(number: int, folder: str, conversation: str) -> bytes:
    """A prompt, a command with its output, and an answer of some kilobytes."""
    name = f"toolu_{number}"
    call = {"type": "tool_use", "id": name, "name": "Bash", "input": {"command": f"make {number}"}}
    result = {"type": "tool_result", "tool_use_id": name, "content": "line of output\n" * 60}
    text = f"answer {number}\n\n" + "Some **words** about `code` in a paragraph. " * 20
    said: list[tuple[str, Any]] = [
        ("user", f"question {number}"),
        ("assistant", [call]),
        ("user", [result]),
        ("assistant", [{"type": "text", "text": text}]),
    ]
    about = {"cwd": folder, "sessionId": conversation, "timestamp": "2026-11-20T13:30:00.250Z"}
    return b"".join(
        json.dumps({"type": role, "message": {"role": role, "content": content}, **about}).encode()
        + b"\n"
        for role, content in said
    )


def _write(daemon: DaemonHarness, turns: int) -> tuple[str, Path, str]:
    """A conversation on the disk: its id, its file and its folder."""
    folder = daemon.folder / "work" / uuid.uuid4().hex
    folder.mkdir(parents=True)
    conversation = str(uuid.uuid4())
    name = re.sub(r"[^A-Za-z0-9]", "-", str(folder))
    path = daemon.home / ".claude" / "projects" / name / f"{conversation}.jsonl"
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        for number in range(turns):
            file.write(_turn(number, str(folder), conversation))
    return conversation, path, str(folder)


def _session(daemon: DaemonHarness, conversation: str, folder: str) -> str:
    body = {"mode": "primary", "workingDir": folder, "resumeSessionId": conversation}
    found = daemon.request("POST", "/api/sessions", body).data()
    return str(found["session"]["id"])


def _ask(daemon: DaemonHarness, path: str) -> tuple[float, Any]:
    begun = time.perf_counter()
    found = daemon.request("GET", path, patience=120).data()
    return (time.perf_counter() - begun) * 1000, found


def _append_times(daemon: DaemonHarness, session: str, path: Path, folder: str) -> list[float]:
    """Milliseconds from a line on the disk to the event that tells of it."""
    times = []
    with EventLog(daemon.url) as events:
        for number in range(APPENDS):
            before = len(events.of(session, "session:conversation"))
            with path.open("ab") as file:
                file.write(_turn(TURNS + number, folder, path.stem))
            begun = time.perf_counter()
            while len(events.of(session, "session:conversation")) == before:
                time.sleep(0.002)
            times.append((time.perf_counter() - begun) * 1000)
            time.sleep(0.3)
    return times


def _open(page: Page, daemon: DaemonHarness) -> float:
    page.goto(f"{daemon.url}/?page=conversations")
    page.get_by_test_id("conversation-read").first.wait_for()
    return float(page.evaluate(OPEN))


def _page_rows(daemon: DaemonHarness) -> list[Row]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        _open(page, daemon)
        opened = _open(page, daemon)
        frames = sorted(page.evaluate(SCROLL))
        drawn = page.locator("[data-turn][data-drawn=true]").count()
        browser.close()
    return [
        _row(f"{TURNS} turns, open to the first answer drawn", opened, 300.0, "ms"),
        _row("scrolling, frame p50", percentile(frames, 0.5), 17.0, "ms"),
        _row("scrolling, frame p95", percentile(frames, 0.95), 34.0, "ms"),
        _row("turns drawn after scrolling", float(drawn), 200.0, "turns"),
    ]


def _row(name: str, ours: float, limit: float, unit: str) -> Row:
    return Row(
        name=f"conversation, {name}", ours=ours, peer=limit, unit=unit, against="limit", at_most=1.0
    )


def run(_: DaemonHarness) -> list[Row]:
    """Return the rows, measured on a daemon that plays its agents."""
    daemon = played_daemon()
    most = str(FOLLOWED + 10)
    daemon.environment |= {"SERVICE_MAX_SESSIONS": most, "SERVICE_MAX_SESSIONS_PER_USER": most}
    try:
        daemon.start()
        conversation, path, folder = _write(daemon, TURNS)
        session = _session(daemon, conversation, folder)
        asked = f"/api/sessions/{session}/conversation?limit=200"
        cold, _found = _ask(daemon, asked)
        warm = min(_ask(daemon, asked)[0] for _ in range(5))
        told = _append_times(daemon, session, path, folder)
        rows = [
            _row(
                f"{TURNS} turns ({path.stat().st_size >> 20} MB), first request", cold, 4000.0, "ms"
            ),
            _row("newest page, index kept", warm, 100.0, "ms"),
            _row("line on the disk to its event, p50", percentile(told, 0.5), 500.0, "ms"),
            _row("line on the disk to its event, worst", max(told), 1000.0, "ms"),
            *_page_rows(daemon),
        ]
        for _number in range(FOLLOWED):
            name, _path, place = _write(daemon, 3)
            _ask(daemon, f"/api/sessions/{_session(daemon, name, place)}/conversation")
        time.sleep(2)
        idle = cpu_percent([daemon.pid], WATCHED)
        return [*rows, _row(f"{FOLLOWED} followed, idle", idle, 1.0, "% of a core")]
    finally:
        daemon.close()
