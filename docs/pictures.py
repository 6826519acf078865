"""Make the pictures of the README and the tutorials: a real daemon and page, played agents.

Run from the checkout, with the UI built: C{.venv/bin/python docs/pictures.py}.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from attrs import asdict, frozen  # noqa: E402
from playwright.sync_api import Browser, Page  # noqa: E402

from tests.agents.mock_tui.scenario import VARIABLE, MockScenario  # noqa: E402
from tests.browser.chromium import ChromiumPool  # noqa: E402
from tests.browser.harness import PageTerminal  # noqa: E402
from tests.integration.agents.harness import played_daemon  # noqa: E402

FOLDER = ROOT / "docs" / "pictures"
LARGEST = 200_000
"""Bytes of one picture."""
PATIENCE = 60.0
"""Seconds that an agent gets to reach the state that a picture shows."""
DESK: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}}
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "screen": {"width": 390, "height": 844},
    "is_mobile": True,
    "has_touch": True,
}
PROJECTS = Path("/tmp/projects")  # noqa: S108 - it is seen in the pictures: always the same
SETTLED = 1500
"""Milliseconds that a page gets to draw what arrived last."""
PASSWORD = "a password of the picture"  # noqa: S105 - of a daemon that ends with the picture
PROFILE = "PS1='\\[\\e[1;32m\\]\\W\\[\\e[0m\\] $ '\n"
TUNNEL = "#!/bin/sh\necho https://terminals.example.org\nexec sleep 600\n"
FILES: Mapping[str, Mapping[str, str]] = {
    "orchard": {
        "orchard/login.py": "LIMIT = 5\n\n\ndef failed(name):\n    return counts[name] + 1\n",
        "tests/test_login.py": "LIMIT = 5\n\n\ndef test_limit():\n    assert LIMIT == 5\n",
        "README.rst": "Orchard\n=======\n",
    },
    "ledger": {
        "migrations/0042_invoices.sql": "ALTER TABLE invoices ADD COLUMN paid_at TEXT;\n",
        "ledger/store.py": "def invoices():\n    return rows('SELECT * FROM invoices')\n",
    },
    "website": {
        "pages/help.de.md": "# Hilfe\n",
        "pages/help.en.md": "# Help\n",
    },
}
"""The repositories, and what each holds."""
CHANGED: Mapping[str, str] = {
    "orchard/orchard/login.py": "LIMIT = 5\nPAUSE = 60\n\n\ndef failed(name):\n    lock(name)\n",
    "orchard/orchard/lock.py": "def lock(name):\n    until[name] = now() + PAUSE\n",
    "website/pages/help.de.md": "# Hilfe\n\nWo finde ich meine Sitzungen?\n",
}
"""What is not committed."""
LOGIN = "Lock an account for a minute after five wrong passwords."
MIGRATE = "Add an index for the report, and run the migration on the test database."
REVIEW = "Review migration 0042 before we run it."
GERMAN = "Translate the help pages into German."
FLAKY = "Find out why test_invoices fails once in ten runs."
NOTES = "Write the release notes of 2.4 from the commits."
TOOL = {"command": "python -m pytest -q tests/test_login.py", "description": "Run its tests"}
ANSWERS: Mapping[str, str] = {
    LOGIN: f"TOOL: Bash {json.dumps(TOOL)}",
    MIGRATE: "RUN: python -m ledger migrate --database test",
    REVIEW: (
        "SAY: Two findings in 0042_invoices.sql:\\n"
        "1. paid_at has no default, so old rows are NULL.\\n"
        "2. The column has no index, and the report sorts by it."
    ),
    GERMAN: "THINK: 3600",
    FLAKY: "THINK: 3600",
    NOTES: (
        "SAY: I wrote CHANGES.md for 2.4: 3 new features,\\n"
        "5 fixes, and one change to the settings file."
    ),
}
"""What an agent does about a prompt; see L{tests.agents.stub.script}."""


@frozen(kw_only=True)
class Seat:
    """One session of the scene.

    @ivar wanted: the status that the picture shows; C{asks} for a pending approval.
    """

    name: str
    mode: str
    project: str
    color: str
    prompt: str = ""
    wanted: str = "idle"


SEATS = (
    Seat(name="login lockout", mode="primary", project="orchard", color="purple",
         prompt=LOGIN, wanted="asks"),
    Seat(name="migrate invoices", mode="codex", project="ledger", color="blue",
         prompt=MIGRATE, wanted="asks"),
    Seat(name="flaky invoices", mode="pi", project="ledger", color="orange",
         prompt=FLAKY, wanted="busy"),
    Seat(name="German help", mode="primary", project="website", color="green",
         prompt=GERMAN, wanted="busy"),
    Seat(name="review 0042", mode="codex", project="ledger", color="red", prompt=REVIEW),
    Seat(name="release notes", mode="gemini", project="orchard", color="yellow", prompt=NOTES),
)  # fmt: skip
FACE = "localStorage.setItem('tservice.face', 'here')"
"""The page has its own face from the start, as from the third visit on."""


def run_git(folder: Path, home: Path, *words: str) -> None:
    """Run git with a fixed author and time, so that the hashes stay the same."""
    when = "2026-03-02T09:30:00Z"
    names = {"NAME": "Pomona", "EMAIL": "pomona@orchard.example", "DATE": when}
    roles = ("AUTHOR", "COMMITTER")
    who = {f"GIT_{role}_{key}": value for role in roles for key, value in names.items()}
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home), **who}
    subprocess.run(["git", *words], cwd=folder, env=environment, check=True, capture_output=True)


def make_projects(home: Path) -> None:
    """Make the repositories: one commit each, and some changes after it."""
    (home / ".bash_profile").write_text(PROFILE)
    (home / ".gitconfig").write_text("[init]\n\tdefaultBranch = main\n")
    for project, files in FILES.items():
        folder = PROJECTS / project
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        run_git(folder, home, "init", "-q")
        (folder / ".git" / "info" / "exclude").write_text(".claude/\nturns.json\n")
        run_git(folder, home, "add", "-A")
        run_git(folder, home, "commit", "-qm", "Begin")
    for name, text in CHANGED.items():
        (PROJECTS / name).write_text(text)


class Scene:
    """A running daemon with the projects of the pictures."""

    def __init__(self, **environment: str) -> None:
        self._daemon = daemon = played_daemon()
        scenario = daemon.folder / "scenario.json"
        scenario.write_text(json.dumps(asdict(MockScenario(trust=False, answers=ANSWERS))), "utf-8")
        tunnel = daemon.folder / "tunnel"
        tunnel.write_text(TUNNEL)
        tunnel.chmod(0o755)
        daemon.environment |= {VARIABLE: str(scenario), "SERVICE_TUNNEL_COMMAND": str(tunnel)}
        daemon.environment |= environment
        make_projects(daemon.home)
        daemon.start()
        self.url = daemon.url

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Send one request and return its payload."""
        return self._daemon.request(method, path, body, patience=2 * PATIENCE).data()

    def add(self, seat: Seat) -> str:
        """Start the session of a seat, send its prompt, and return its id."""
        folder = str(PROJECTS / seat.project)
        body = {"mode": seat.mode, "name": seat.name, "workingDir": folder, "start": True}
        session = str(self.call("POST", "/api/sessions", body)["session"]["id"])
        self.call("PUT", f"/api/sessions/{session}/color", {"color": seat.color})
        if seat.prompt:
            self.call("POST", f"/api/sessions/{session}/input", {"input": f"{seat.prompt}\r"})
            wait(f"{seat.name} is {seat.wanted}", lambda: self._shows(session, seat))
        return session

    def _shows(self, session: str, seat: Seat) -> bool:
        if seat.wanted == "asks":
            found = self.call("GET", "/api/approvals")["approvals"]
            return any(item["sessionId"] == session and item.get("context") for item in found)
        return bool(self.call("GET", f"/api/sessions/{session}")["status"] == seat.wanted)

    def close(self) -> None:
        """End the daemon and its sessions, and remove the projects."""
        self._daemon.close()
        for folder in PROJECTS.iterdir():
            shutil.rmtree(folder)


def wait(what: str, look: Callable[[], bool]) -> None:
    """Ask again until it is so.

    @raise AssertionError: it never was.
    """
    deadline = time.monotonic() + PATIENCE
    while not look():
        if time.monotonic() > deadline:
            raise AssertionError(f"never: {what}")
        time.sleep(0.1)


def open_page(browser: Browser, url: str, **options: Any) -> Page:
    """A page in the light theme, in which nothing moves; its context is its own."""
    context = browser.new_context(color_scheme="light", reduced_motion="reduce", **options)
    context.set_default_timeout(PATIENCE * 1000)
    context.add_init_script(FACE)
    page = context.new_page()
    page.goto(url)
    return page


def take(page: Page, name: str) -> None:
    """Write one picture, and say how large it is.

    @raise AssertionError: it is larger than L{LARGEST}.
    """
    file = FOLDER / f"{name}.png"
    page.evaluate("document.fonts.ready.then(() => true)")
    page.wait_for_timeout(SETTLED)
    page.screenshot(path=file, animations="disabled", caret="hide")
    size = file.stat().st_size
    sys.stdout.write(f"{file.name}: {size} bytes\n")
    if size > LARGEST:
        raise AssertionError(f"{file.name} is larger than {LARGEST} bytes")


def take_desk(scene: Scene, browser: Browser, ids: Mapping[str, str]) -> None:
    """The fleet; the dialog of a new session; an agent at rest, and the inbox beside it."""
    page = open_page(browser, f"{scene.url}/?page=fleet", viewport={"width": 1480, "height": 960})
    page.get_by_test_id("fleet-question").nth(1).wait_for()
    take(page, "fleet")
    page.context.close()
    page = open_page(browser, f"{scene.url}/?session={ids['review 0042']}", **DESK)
    PageTerminal(page).ready()
    page.get_by_test_id("new-session-button").click()
    page.get_by_label("What should it do?").fill(REVIEW)
    take(page, "new-session")
    page.keyboard.press("Escape")
    page.get_by_test_id("new-start").wait_for(state="detached")
    page.get_by_test_id("prompt-field").fill("Add the default and the index.")
    take(page, "agent")
    page.get_by_test_id("approvals-bell").click()
    page.get_by_test_id("approval").nth(1).wait_for()
    take(page, "inbox")
    page.context.close()


def take_phone(scene: Scene, browser: Browser, ids: Mapping[str, str]) -> None:
    """The fleet, the inbox, and a terminal with the keys that a phone lacks."""
    page = open_page(browser, f"{scene.url}/?page=fleet", **PHONE)
    page.get_by_test_id("fleet-question").first.wait_for()
    take(page, "phone-fleet")
    page.goto(f"{scene.url}/?page=approvals")
    page.get_by_test_id("approval").nth(1).wait_for()
    take(page, "phone-inbox")
    page.goto(f"{scene.url}/?session={ids['review 0042']}")
    page.get_by_test_id("view-switch").tap()
    PageTerminal(page).ready()
    take(page, "phone-terminal")
    page.context.close()


def take_code(scene: Scene, browser: Browser) -> None:
    """The code that signs a phone in."""
    page = open_page(browser, f"{scene.url}/?page=devices", viewport={"width": 1280, "height": 560})
    page.locator("input[name=username]").fill("admin")
    page.locator("input[name=password]").fill(PASSWORD)
    page.get_by_test_id("login-submit").click()
    page.get_by_test_id("tunnel-start").click()
    page.get_by_test_id("qr-image").wait_for()
    take(page, "qr-code")
    page.context.close()


def main() -> None:
    """Take the pictures, and leave nothing running."""
    PROJECTS.mkdir()
    FOLDER.mkdir(exist_ok=True)
    chromium = ChromiumPool()
    try:
        with contextlib.closing(Scene()) as scene:
            ids = {seat.name: scene.add(seat) for seat in SEATS}
            take_desk(scene, chromium.browser, ids)
            take_phone(scene, chromium.browser, ids)
        with contextlib.closing(Scene(SERVICE_PASSWORD=PASSWORD)) as scene:
            take_code(scene, chromium.browser)
    finally:
        chromium.close()
        shutil.rmtree(PROJECTS)


if __name__ == "__main__":
    main()
