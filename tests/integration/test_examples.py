"""What the documents tell people to type does what they say."""

from __future__ import annotations

import re
import subprocess
import textwrap
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.integration.harness import PATIENCE, ROOT, Daemon

HERE = r"http://127\.0\.0\.1:8770/api|\$api/"
"""How pages spell the address; C{$api} is set on the page on curl."""


def blocks(page: Path) -> list[str]:
    """The literal blocks of a reStructuredText page."""
    found = re.findall(r"::\n\n((?:(?:    .*)?\n)+)", page.read_text(encoding="utf-8"))
    return [textwrap.dedent(block) for block in found]


class ExampleTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.daemon = Daemon(SERVICE_PASSWORD="password")
        self.addCleanup(self.daemon.close)

    def shell(self, script: str) -> str:
        environ = self.daemon.environ()
        ended = subprocess.run(
            ["bash", "-euo", "pipefail", "-O", "expand_aliases", "-c", script],
            env=environ,
            cwd=self.daemon.home,
            capture_output=True,
            text=True,
            timeout=2 * PATIENCE,
            check=False,
        )
        self.assertEqual(0, ended.returncode, ended.stderr)
        return ended.stdout

    def test_the_readme(self) -> None:
        self.daemon.environment = {}
        self.daemon.start()
        (block,) = [block for block in blocks(ROOT / "README.rst") if "id=$(" in block]
        here = block.replace("http://127.0.0.1:8770", self.daemon.url)
        self.assertNotEqual(block, here)
        answers = self.shell(here)
        self.assertEqual(4, answers.count('"success":true'), answers)
        self.assertIn('"matched":true', answers)
        self.assertIn("42-done", answers)
        self.assertEqual([], self.daemon.request("GET", "/api/sessions").data())

    def test_every_page_asks_where_the_service_listens(self) -> None:
        """A page with an address of its own is one that nobody can follow."""
        pages = [ROOT / "README.rst", *sorted((ROOT / "docs").glob("*.rst"))]
        found = [
            f"{page.name}: {line}"
            for page in pages
            for block in blocks(page)
            for line in block.splitlines()
            if re.search(r"\b(curl|get) .*(/api|\$api|localhost)", line)
        ]
        self.assertGreater(len(found), 20)
        self.assertEqual([], [line for line in found if not re.search(HERE, line)])

    def test_first_steps(self) -> None:
        """Of the pages on jobs and webhooks, as they stand but for what only the reader has."""
        self.daemon.environment = {}
        self.daemon.start()
        for page, name, mine in (
            ("cron.rst", "/srv/project", str(self.daemon.home)),
            ("webhooks.rst", "https://...", "http://127.0.0.1:9/nobody"),
        ):
            (block,) = [block for block in blocks(ROOT / "docs" / page) if "curl -X" in block]
            self.assertIn(name, block)
            here = block.replace("http://127.0.0.1:8770", self.daemon.url).replace(name, mine)
            answers = self.shell(here)
            self.assertEqual(here.count("curl "), answers.count('"success":true'), answers)
        (job,) = self.daemon.request("GET", "/api/cron/jobs").data()
        self.assertEqual("Morning review", job["name"])

    def test_the_page_on_curl(self) -> None:
        self.daemon.start()
        first, *rest = blocks(ROOT / "docs/api-by-curl.rst")
        start = first.replace("http://127.0.0.1:8770", self.daemon.url)
        session = (
            'id=$(get $api/sessions -H "$json" -d \'{"mode": "shell", "start": true}\' |'
            ' sed \'s/.*"id":"\\([^"]*\\)".*/\\1/\'); a=$id; b=$id; c=$id\n'
        )
        script = start + session + "\n".join(map(brisk, rest)) + "\nget -X DELETE $api/sessions\n"
        answers = self.shell(script)
        failures = re.findall(r'"success": ?false[^}]*', answers)
        # The page shows two ways to end a session; the second finds it gone.
        self.assertEqual(1, len(failures), answers)
        self.assertIn("NOT_FOUND", failures[0])
        commands = len(re.findall(r"(?m)^(?!alias|id=).*get (?:-X|\"?\$api)", script))
        self.assertEqual(commands - 1, len(re.findall(r'"success": ?true', answers)), answers)
        self.assertIn("event: init", answers)


def brisk(block: str) -> str:
    """Waits that nobody ends must not take ten minutes here, and a shell stands in for an agent."""
    block = re.sub(r"timeout=\d+", "timeout=1000", block)
    block = re.sub(r'"waitTimeout": \d+', '"waitTimeout": 1000', block)
    block = block.replace("mode=any", "mode=any&timeout=1000").replace("stop,", "")
    block = re.sub(r".*primary.*\n", "", block)
    return block.replace("curl -s -N", "timeout 2 curl -s -N").replace("/events", "/events || true")
