"""What the documents tell people to type does what they say."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

from attrs import asdict
from twisted.trial.unittest import SynchronousTestCase

from tests.agents.mock_tui.scenario import VARIABLE, MockScenario
from tests.integration.agents.harness import SCENARIO, played_daemon
from tests.integration.harness import PATIENCE, ROOT, DaemonHarness
from tests.integration.tsctl import TSCTL

TSCTL_HERE = f'tsctl() {{ {shlex.join(TSCTL)} "$@"; }}'
HERE = r"http://127\.0\.0\.1:8770/api|\$api/"
"""How pages spell the address; C{$api} is set on the page on curl."""


def blocks(page: Path) -> list[str]:
    """The literal blocks of a reStructuredText page."""
    found = re.findall(r"::\n\n((?:(?:    .*)?\n)+)", page.read_text(encoding="utf-8"))
    return [textwrap.dedent(block) for block in found]


class DocumentedExampleTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.daemon = DaemonHarness(SERVICE_PASSWORD="password")
        self.addCleanup(self.daemon.close)

    def shell(self, script: str) -> str:
        environ = self.daemon.environ()
        ended = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            env=environ,
            cwd=self.daemon.home,
            capture_output=True,
            text=True,
            timeout=2 * PATIENCE,
            check=False,
        )
        self.assertEqual(0, ended.returncode, ended.stderr)
        return ended.stdout

    def test_readme_examples_work(self) -> None:
        self.daemon.environment = {}
        self.daemon.start()
        (block,) = [block for block in blocks(ROOT / "README.rst") if "id=$(curl" in block]
        here = block.replace("http://127.0.0.1:8770", self.daemon.url)
        self.assertNotEqual(block, here)
        answers = self.shell(here)
        self.assertEqual(4, answers.count('"success":true'), answers)
        self.assertIn('"matched":true', answers)
        self.assertIn("42-done", answers)
        self.assertEqual([], self.daemon.request("GET", "/api/sessions").data())

    def test_every_page_takes_the_address_from_the_service(self) -> None:
        """A page with an address of its own is one that nobody can follow."""
        pages = [ROOT / "README.rst", *sorted((ROOT / "docs").rglob("*.rst"))]
        found = [
            f"{page.name}: {line}"
            for page in pages
            for block in blocks(page)
            for line in block.splitlines()
            if re.search(r"\b(curl|get) .*(/api|\$api|localhost)", line)
        ]
        self.assertGreater(len(found), 20)
        self.assertEqual([], [line for line in found if not re.search(HERE, line)])

    def test_first_steps_of_the_cron_and_webhook_pages_work(self) -> None:
        """Of the pages on jobs and webhooks, as they stand but for what only the reader has."""
        self.daemon.environment = {}
        self.daemon.start()
        for page, name, mine in (
            ("cron.rst", "/srv/project", str(self.daemon.home)),
            ("webhooks.rst", "https://...", "http://127.0.0.1:9/nobody"),
        ):
            every = [block for block in blocks(ROOT / "docs/howto" / page) if "curl -X" in block]
            block = every[0]
            self.assertIn(name, block)
            here = block.replace("http://127.0.0.1:8770", self.daemon.url).replace(name, mine)
            answers = self.shell(here)
            self.assertEqual(here.count("curl "), answers.count('"success":true'), answers)
        (job,) = self.daemon.request("GET", "/api/cron/jobs").data()
        self.assertEqual("Morning review", job["name"])

    def test_examples_of_the_curl_page_run(self) -> None:
        self.play({"SERVICE_PASSWORD": "password"})
        first, *rest = blocks(ROOT / "docs/howto/api-by-curl.rst")
        start = first.replace("http://127.0.0.1:8770", self.daemon.url)
        script = start + "\n".join(map(brisk, rest)) + "\nget -X DELETE $api/sessions\n"
        answers = self.shell(script)
        failures = re.findall(r'"success": ?false[^}]*', answers)
        # The page shows two ways to end a session; the second finds it gone.
        self.assertEqual(1, len(failures), answers)
        self.assertIn("NOT_FOUND", failures[0])
        commands = len(re.findall(r'(?m)^get (?:-X|"?\$api)', script))
        self.assertEqual(commands - 1, len(re.findall(r'"success": ?true', answers)), answers)
        for signal in ("idle", "stop"):
            self.assertIn(f'"signal":"{signal}"', answers)
        self.assertIn('"matched":true', answers)
        self.assertIn("event: init", answers)

    def test_examples_of_the_agents_page_run(self) -> None:
        self.play({}, answers={"run the tests": "RUN: touch tested"})
        # As root agents are started in their bypass mode, which asks nothing.
        self.daemon.request("PUT", "/api/settings", {"primaryMode": "normal"}).data()
        # What tells a running agent its settings is held to the real CLIs: a played one takes none.
        ask, answer, _, prices = blocks(ROOT / "docs/reference/agents.rst")
        here = ask.replace("http://127.0.0.1:8770", self.daemon.url)
        asked = self.shell(here)
        self.assertIn('"signal":"blocked"', asked)
        again = "".join(line for line in here.splitlines(True) if re.match("api=|json=", line))
        answered = self.shell(again + answer)
        self.assertIn('"success":true', answered)
        self.assertIn('"modelPrices":[{', self.shell(again + prices))

    def test_examples_of_the_git_page_run(self) -> None:
        self.daemon.environment = {}
        self.daemon.start()
        work = self.daemon.home / "project"
        self.shell(
            f"git init -q {work}; cd {work}; echo one > README.rst; git add .;"
            " git -c user.name=a -c user.email=a@b commit -qm one; echo two >> README.rst"
        )
        (block,) = blocks(ROOT / "docs/howto/git.rst")
        here = block.replace("http://127.0.0.1:8770", self.daemon.url)
        answers = self.shell(here.replace("/srv/project", str(work)))
        self.assertEqual(2, answers.count('"success":true'), answers)
        self.assertIn("+two", answers)

    def test_examples_of_the_python_page_run(self) -> None:
        self.daemon.environment = {}
        self.daemon.start()
        scripts = blocks(ROOT / "docs/reference/python.rst")
        self.assertEqual(3, len(scripts))
        for script in scripts:
            here = script.replace("http://127.0.0.1:8770", self.daemon.url)
            self.assertNotEqual(script, here)
            self.assertIn("mark-42", self.python(here))
            self.assertEqual([], self.daemon.request("GET", "/api/sessions").data())

    def test_examples_of_the_tsctl_and_mcp_pages_run(self) -> None:
        answers = {"mend the failing test": "SAY: mended", "now commit": "RUN: touch committed"}
        self.play({}, answers=answers)
        # As root agents are started in their bypass mode, which asks nothing.
        self.daemon.request("PUT", "/api/settings", {"primaryMode": "normal"}).data()
        first, *_ = blocks(ROOT / "docs/reference/tsctl.rst")
        block, _, attaching = first.partition("tsctl attach")
        self.assertIn("session", attaching)  # wants a terminal; other tests have one
        said = self.shell(f"{TSCTL_HERE}\nexport TSCTL_URL={self.daemon.url}\n{block}")
        for word in ("mended", "blocked", "Bash: touch committed"):
            self.assertIn(word, said)
        session = self.daemon.request("GET", "/api/sessions").data()[0]["id"]
        path = f"/api/sessions/{session}/wait?until=idle&timeout=60000"
        self.daemon.request("GET", path).data()
        self.assertTrue((self.daemon.home / "committed").exists())
        for block in blocks(ROOT / "docs/reference/mcp.rst"):
            if block.startswith(("mkdir", "curl")):
                here = block.replace("http://127.0.0.1:8770", self.daemon.url)
                said += self.shell(f"{TSCTL_HERE}\n{here}")
        self.assertEqual(3, said.count('"success":true'), said)
        skill = (self.daemon.home / ".claude/skills/tservice/SKILL.md").read_text()
        self.assertTrue(skill.startswith("---\nname: tservice\n"))
        self.assertIn("## Sessions that outlive", (self.daemon.home / "AGENTS.md").read_text())

    def python(self, script: str) -> str:
        return self.shell(shlex.join([sys.executable, "-c", script]))

    def test_examples_of_the_audit_log_page_run(self) -> None:
        self.daemon.start()
        (block,) = [
            block for block in blocks(ROOT / "docs/reference/audit.rst") if "audit" in block
        ]
        here = block.replace("http://127.0.0.1:8770", self.daemon.url).replace("=ann", "=admin")
        self.assertNotEqual(block, here)
        answers = self.shell(here)
        self.assertEqual(2, answers.count('"success":true'), answers)
        self.assertIn('"action":"login"', answers)

    def play(self, environment: dict[str, str], **scenario: Any) -> None:
        """Start a daemon that finds a played agent."""
        self.daemon = played_daemon()
        self.addCleanup(self.daemon.close)
        file = self.daemon.folder / SCENARIO
        file.write_text(json.dumps(asdict(MockScenario(**scenario))), "utf-8")
        self.daemon.environment |= {VARIABLE: str(file), **environment}
        self.daemon.start()


def brisk(block: str) -> str:
    """What goes on until somebody ends it must not do so here."""
    first = r"sed '/^event: init/q' < <(\1 2>/dev/null)"
    return re.sub(r"(curl -s -N .*/events)", first, block)
