"""Make the pictures of the README: a real daemon, a real browser, a scene that is always the same.

Run from the checkout, with the UI built: C{.venv/bin/python docs/screenshot.py}.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, Page, sync_playwright  # noqa: E402

from tests.browser.harness import ARGUMENTS, Terminal, chromium, until  # noqa: E402
from tests.integration.harness import Daemon  # noqa: E402

DESK: dict[str, Any] = {"viewport": {"width": 1180, "height": 640}}
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 700},
    "screen": {"width": 390, "height": 844},
    "is_mobile": True,
    "has_touch": True,
}
PROJECT = Path("/tmp/orchard")  # noqa: S108 - it is seen in the picture, so it is always the same
PROFILE = r"""PS1='\[\e[1;32m\]orchard\[\e[0m\] $ '
"""
SESSIONS = (("orchard", "green"), ("api tests", "blue"), ("release notes", "purple"))
FILES = {
    "harvest.py": "def picked(trees):\n    return sum(tree.apples for tree in trees)\n",
    "Makefile": "check:\n\tpython -m unittest\n",
    "README.rst": "Orchard\n=======\n",
    "tools/ladder": "#!/bin/sh\necho up\n",
}
COMMITS = ("Plant the first row", "Count what was picked", "Lend a ladder")
CHANGED = (
    "def picked(trees):\n    ripe = [tree for tree in trees if tree.ripe]\n"
    "    return sum(tree.apples for tree in ripe)\n"
)
COMMANDS = ("ls --color", "git log --graph --oneline --stat=60", "git diff")


def git(home: Path, day: int, *words: str) -> None:
    """Run git as somebody of the scene, at a fixed time, so that the hashes stay the same."""
    when = f"2026-03-{day:02d}T09:30:00Z"
    names = {"NAME": "Pomona", "EMAIL": "pomona@orchard.example", "DATE": when}
    roles = ("AUTHOR", "COMMITTER")
    who = {f"GIT_{role}_{key}": value for role in roles for key, value in names.items()}
    subprocess.run(
        ["git", *words],
        cwd=PROJECT,
        env={"PATH": "/usr/bin:/bin", "HOME": str(home), **who},
        check=True,
        capture_output=True,
    )


def make_project(home: Path) -> None:
    """A repository with a few commits and one change that is not committed."""
    (home / ".bash_profile").write_text(PROFILE)
    (home / ".gitconfig").write_text("[init]\n\tdefaultBranch = main\n[core]\n\tpager = cat\n")
    git(home, 1, "init", "-q")
    for number, (name, text) in enumerate(FILES.items()):
        file = PROJECT / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        if number < len(COMMITS):
            git(home, number + 1, "add", "-A")
            git(home, number + 1, "commit", "-qm", COMMITS[number])
    (PROJECT / "tools" / "ladder").chmod(0o755)
    (PROJECT / "harvest.py").write_text(CHANGED)


def make_sessions(daemon: Daemon) -> None:
    """Three shells with names and colours, the first one pinned."""
    for number, (name, color) in enumerate(SESSIONS):
        body = {"mode": "shell", "start": True, "name": name, "workingDir": str(PROJECT)}
        session = daemon.request("POST", "/api/sessions", body).data()["session"]["id"]
        daemon.request("PUT", f"/api/sessions/{session}/color", {"color": color}).data()
        if number == 0:
            daemon.request("PUT", f"/api/sessions/{session}/pin", {"pinned": True}).data()


def opened(browser: Browser, url: str, options: dict[str, Any]) -> Terminal:
    context = browser.new_context(color_scheme="dark", reduced_motion="reduce", **options)
    page = context.new_page()
    page.goto(url)
    return Terminal(page).ready()


def prompts(terminal: Terminal) -> int:
    """How many there are; what is typed before the next one would stand in the output."""
    return sum(row.startswith("orchard $") for row in terminal.screen())


def take(page: Page, name: str) -> None:
    """Write one picture and tell its size."""
    file = ROOT / "docs" / name
    page.wait_for_timeout(600)
    page.screenshot(path=file, animations="disabled", caret="hide")
    sys.stdout.write(f"{file.name}: {file.stat().st_size} bytes\n")


def take_all(browser: Browser, url: str) -> None:
    """The desk, then the phone, which has the size once the desk is gone."""
    desk = opened(browser, url, DESK)
    desk.page.get_by_test_id("toggle-sidebar").click()
    desk.page.get_by_test_id("sidebar").wait_for()
    desk.ready().focus()
    for number, command in enumerate(COMMANDS):
        until(desk.page, "a prompt", lambda n=number: prompts(desk) > n)  # type: ignore[misc]
        desk.run(command)
    until(desk.page, "the last prompt", lambda: prompts(desk) > len(COMMANDS))
    take(desk.page, "screenshot.png")
    desk.page.context.close()
    phone = opened(browser, url, PHONE)
    taken = phone.page.get_by_test_id("foreign-size")
    until(phone.page, "the phone's size", taken.is_hidden)
    phone.element.tap()
    phone.run("clear; git diff").wait(r"\+    return sum.*")
    take(phone.page, "screenshot-phone.png")


def main() -> None:
    """Take the pictures, and leave nothing running."""
    PROJECT.mkdir()
    daemon = Daemon(PATH="/usr/bin:/bin")
    try:
        make_project(daemon.home)
        make_sessions(daemon.start())
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS))
            take_all(browser, daemon.url)
            browser.close()
    finally:
        daemon.close()
        shutil.rmtree(PROJECT)


if __name__ == "__main__":
    main()
