"""Texts that a stranger can place, on every page that shows them, in a real Chromium.

What is planted makes an element, runs a script or loads something, if any of it is taken for
markup.  The page says so itself: by a dialog, an element, a broken policy, a request elsewhere.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote, urlsplit

from playwright.sync_api import Dialog, Page, Request, expect

from tests.agents.mock_tui.scenario import MockScenario
from tests.browser.harness import BrowserCase, PageTerminal, wait_until_on_page
from tests.browser.pdf_files import make_hostile_pdf
from tests.integration.agents.harness import PlayedSession, played_daemon
from tests.integration.harness import DaemonHarness
from tests.unit.agents.transcripts.transcript_lines import ID, answer_line, prompt_line, write_lines
from tests.unit.git.random_repositories import run_git

ELSEWHERE = "//elsewhere.invalid"
BORN = "x-born"
MARKUP = f'"><{BORN}></{BORN}><img src={ELSEWHERE}/i onerror=alert(1)><script>alert(2)</script>'
SHORT = f"'\"><{BORN}><svg onload=alert(3)>"
"""Where few characters are taken, or no slash."""

LINKS = f"""
[a](javascript:alert(4)) [b](data:text/html,<script>alert(5)</script>) <javascript:alert(6)>
![c]({ELSEWHERE}/c.png) [d]: vbscript:x [d] <a href="javascript:alert(7)">e</a>
<iframe srcdoc="<script>parent.alert(8)</script>"></iframe><style>@import "{ELSEWHERE}/s";</style>
<form action={ELSEWHERE}><button autofocus onfocus=alert(9)>f</button></form>
<meta http-equiv=refresh content="0;url={ELSEWHERE}"><base href={ELSEWHERE}/>
"""
DRAWING = (
    '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(10)"><script>alert(11)</script>'
    f'<image href="http:{ELSEWHERE}/v"/></svg>'
)
PAGES = ("cases", "cron", "webtabs", "clis", "models", "tokens", "fleet")
FILES = ("a.md", "a.html", "a.svg", "a.pdf", f"{SHORT}.txt")
TITLES = (
    "\\033]0;{0}\\007\\033]8;;javascript:alert(12)\\007{0}\\033]8;;\\007"
    "\\033]8;;http:{1}/{0}\\033\\\\{0}\\033]8;;\\033\\\\\\n"
)
"""A window's title and two links of a terminal, for printf."""

LOADED = """([tag, field, url]) => new Promise((done) => {
  const one = document.createElement(tag);
  Object.assign(one, { rel: "stylesheet", type: tag === "script" ? "module" : "", [field]: url });
  one.onload = () => done("loaded");
  one.onerror = () => done("refused");
  document.head.append(one);
})"""
OWN = "document.querySelector('script[src]').src"

BAD = (
    "[...document.querySelectorAll("
    f"'{BORN}, [onerror], [onload], [onfocus], [srcdoc], base, meta[http-equiv=refresh],"
    f' [src*="elsewhere"], [href^="javascript:" i], [href^="data:text" i], [href^="vbscript:" i]\''
    ")].map(each => each.outerHTML)"
)


class InjectionTests(BrowserCase):
    """One service with the same texts in all that it keeps, and one page that walks through it."""

    service: ClassVar[DaemonHarness]
    root: ClassVar[Path]
    expected = (r"the server responded with a status of 4\d\d", r"ERR_CONNECTION_REFUSED",
                r"MIME.*/api/file-link/|/api/file-link/.*MIME")  # fmt: skip

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.service = played_daemon()
        cls.addClassCleanup(cls.service.close)
        home = cls.service.home
        words = {**prompt_line(f"{MARKUP}{LINKS}"), "cwd": str(home / SHORT)}
        write_lines(
            home / ".claude/projects/-x" / f"{ID}.jsonl", words, answer_line(f"{MARKUP}\n\n{LINKS}")
        )
        servers = {"mcpServers": {SHORT: {"command": MARKUP}}}
        (home / ".claude.json").write_text(json.dumps(servers))
        (home / ".bash_profile").write_text("PS1='$ '\n")
        cls.root = cls._repository(home / SHORT)
        cls.service.start()

    @classmethod
    def _repository(cls, root: Path) -> Path:
        """Hostile names, contents, a branch and subjects."""
        root.mkdir()
        run_git(root, "init", "-q", "-b", f"b'\"><{BORN}>", "--template=")
        run_git(root, "commit", "-q", "--allow-empty", "-m", MARKUP)
        run_git(root, "init", "-q", "--bare", "--template=", f"{root}.git")
        run_git(root, "remote", "add", "origin", f"{root}.git")
        run_git(root, "push", "-q", "-u", "origin", "HEAD")
        for name in (SHORT, f"{SHORT}.txt"):
            (root / name).write_text("x\n")
        run_git(root, "add", "-A")
        run_git(root, "commit", "-qm", f"{MARKUP} {LINKS}")
        (root / f"{SHORT}.txt").write_text(f"{MARKUP}\n{LINKS}\n")
        (root / "a.md").write_text(f"# {MARKUP}\n{LINKS}\n```{MARKUP}\n{MARKUP}\n```\n|{MARKUP}|\n")
        (root / "a.html").write_text(f"{MARKUP}{LINKS}")
        (root / "a.svg").write_text(DRAWING)
        (root / "a.pdf").write_bytes(make_hostile_pdf())
        (root / "a.mjs").write_text("document.title = 'ran'")
        (root / "a.css").write_text("* { display: none }")
        return root

    def plant(self) -> str:
        """Everything that the API takes; the id of a shell."""
        on = {"customModelEndpointsEnabled": True, "cliManagementEnabled": True,
              "mcpSyncEnabled": True}  # fmt: skip
        link = {"name": "w", "path": str(self.root)}
        self.ask("PUT", "/api/settings", on)
        self.ask("POST", "/api/cases/link", link)
        self.ask("POST", "/api/model-endpoints", {"label": SHORT, "baseUrl": "http://127.0.0.1:1"})
        entry = {"id": "mine", "label": SHORT, "shortBadge": "<b", "binaries": ["sh"],
                 "argv": ["sh", "-i"]}  # fmt: skip
        self.ask("POST", "/api/clis", entry)
        self.ask("POST", "/api/tokens", {"name": SHORT, "scopes": ["sessions:read"]})
        self.ask(
            "POST",
            "/api/webviews",
            {"name": SHORT, "url": f"http://127.0.0.1:1/?{SHORT.replace(' ', '+')}"},
        )
        run = {"prompt": f"{MARKUP} {LINKS}", "durationMinutes": 60, "workingDir": str(self.root)}
        self.ask("POST", "/api/scheduled", run)
        job = {"name": SHORT, "agentType": "shell", "workingDir": str(self.root),
               "promptMode": "inline_text", "promptText": MARKUP, "inputMode": "paste",
               "scheduleType": "interval", "intervalMinutes": 60, "enabled": False,
               "concurrencyPolicy": "warn_only"}  # fmt: skip
        self.ask("POST", "/api/cron/jobs", job)
        self.service.request("POST", "/api/login", {"username": SHORT, "password": MARKUP})
        self.service.request("GET", f"/api/sessions/{quote(SHORT)}")
        return self.session(self.service, SHORT, workingDir=str(self.root))

    def ask(self, method: str, path: str, body: object) -> None:
        self.service.request(method, path, body).data()

    def setUp(self) -> None:
        super().setUp()
        self.faults: list[str] = []

    def open(self) -> Page:
        """A page that tells of dialogs and of requests to others."""
        page = self.page("about:blank", viewport={"width": 1040, "height": 800})
        page.on("dialog", self._asked_by_a_script)
        page.on("request", self._asked)
        return page

    def _asked_by_a_script(self, dialog: Dialog) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _asked(self, request: Request) -> None:
        where = urlsplit(request.url)
        if where.scheme not in ("data", "blob") and where.netloc not in self.service.url:
            self.faults.append(request.url)

    def judge(self, page: Page, where: str) -> None:
        """What is shown there holds the payload as text, and nothing that was born of it."""
        wait_until_on_page(page, f"the payload at {where}", lambda: BORN in page.content())
        self.faults += [f"{where}: {each}" for frame in page.frames for each in frame.evaluate(BAD)]

    def test_hostile_files_are_no_scripts_of_the_page(self) -> None:
        """Their addresses are of its own origin, from which it takes scripts and style sheets."""
        page, shell = self.open(), self.session(self.service, "files", workingDir=str(self.root))
        page.goto(self.service.url)
        for tag, name, field in (("script", "a.mjs", "src"), ("link", "a.css", "href")):
            link = f"/api/sessions/{shell}/file-link"
            url = self.service.request("POST", link, {"path": name}).data()["url"]
            self.assertEqual("refused", page.evaluate(LOADED, [tag, field, url]), name)
        self.assertEqual("loaded", page.evaluate(LOADED, ["script", "src", page.evaluate(OWN)]))
        self.assertNotEqual("ran", page.title())

    def test_hostile_texts_are_never_markup_on_any_page(self) -> None:
        shell, page = self.plant(), self.open()
        for name in PAGES:
            page.goto(f"{self.service.url}/?page={name}")
            page.locator("dialog :text('Loading…')").wait_for(state="detached")
            self.judge(page, name)
        for name, opened in (("mcp", "mcp-look"), ("conversations", "conversation-read")):
            page.goto(f"{self.service.url}/?page={name}")
            page.get_by_test_id(opened).first.click()
            self.judge(page, name)
        self.look_into_files(page, shell)
        self.look_at_changes(page, shell)
        self.look_at_the_terminal(page, shell)
        self.look_at_an_approval(page)
        self.assertEqual([], self.faults)

    def look_into_files(self, page: Page, shell: str) -> None:
        """The tree, then each kind of preview; a file of HTML and a drawing by their address."""
        page.goto(f"{self.service.url}/?session={shell}&page=files")
        files = page.get_by_test_id("file")
        for name in FILES:
            files.filter(has_text=name).first.click()
            page.locator("[data-testid=files][data-view=file]").wait_for()
            if name == "a.pdf":
                page.locator("[data-testid=pdf-sheet][data-drawn]").wait_for()
            self.judge(page, name)
        for name in FILES:
            path = f"/api/sessions/{shell}/file-raw?path={quote(name)}"
            served = self.service.request("GET", path)
            self.assertIn("sandbox", served.headers["content-security-policy"], name)

    def look_at_changes(self, page: Page, shell: str) -> None:
        page.goto(f"{self.service.url}/?session={shell}&page=git")
        expect(page.get_by_test_id("git-unpushed")).to_contain_text(BORN)
        for file in page.get_by_test_id("git-file").all():
            file.click()
            self.judge(page, "changes")

    def look_at_the_terminal(self, page: Page, shell: str) -> None:
        printed = TITLES.format(SHORT, ELSEWHERE)
        (self.service.home / "titles").write_text(printed)
        page.set_viewport_size({"width": 1280, "height": 800})
        page.goto(f"{self.service.url}/?session={shell}")
        terminal = PageTerminal(page).ready().focus()
        terminal.run(f'printf "$(cat {self.service.home}/titles)"; echo done')
        terminal.wait("done")
        self.judge(page, "terminal")
        page.keyboard.press("Control+Shift+K")
        page.get_by_test_id("palette-field").wait_for()
        self.judge(page, "palette")
        page.keyboard.press("Escape")
        page.keyboard.press("Alt+Shift+B")
        page.get_by_test_id("sidebar").wait_for()
        self.judge(page, "sidebar")

    def look_at_an_approval(self, page: Page) -> None:
        agent = PlayedSession(self.service, "primary", MockScenario(trust=False), name=SHORT)
        self.addCleanup(agent.end)
        agent.prompt(f"RUN: echo {SHORT}", wait="blocked")
        page.goto(f"{self.service.url}/?page=approvals")
        expect(page.get_by_test_id("approval")).to_contain_text(SHORT)
        self.judge(page, "approvals")
