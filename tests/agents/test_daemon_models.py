"""Real CLIs whose model is one of a custom endpoint: the stub, which tells what it was sent."""

from __future__ import annotations

import json
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from contextlib import suppress as passing
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from tests.agents.cli_cache import CliUnavailable, install_cli
from tests.agents.contract_harness import skip_reason
from tests.agents.driven_sessions import read_answers_on_disk
from tests.agents.harness import AgentEnvironmentHarness
from tests.agents.netns import loopback_only
from tests.agents.recipes import know_no_models
from tests.integration.harness import PATIENCE, DaemonHarness
from tests.waiting import wait_until

MODEL = "qwen3:stub-30b"
OWN = "of-the-users-own"
"""A key of the user's own, which must never reach the endpoint."""
HELD = 2 * PATIENCE


class CustomModelTests(SynchronousTestCase):
    """A home that no CLI has seen before, one endpoint, one session.

    @ivar key: the endpoint's, of each test its own: processes of tests beside this one are seen.
    """

    def begin(self, cli: str, mode: str, style: str = "bearer", **environment: str) -> None:
        self.key = f"custom-key-{secrets.token_hex(16)}"
        try:
            binary = install_cli(cli, os.environ).binary
        except CliUnavailable as error:
            reason = skip_reason(error, cli)
            raise SkipTest(reason) if reason else error from error
        held = ExitStack()
        self.addCleanup(held.close)
        isolated = held.enter_context(loopback_only())
        made = tempfile.TemporaryDirectory(prefix="tw-", ignore_cleanup_errors=True)
        folder = held.enter_context(made)
        self.world = held.enter_context(
            AgentEnvironmentHarness(cli, Path(folder), isolated=isolated)
        )
        path = f"{binary.parent}:{os.environ['PATH']}"
        self.daemon = DaemonHarness(PATH=path, **environment)
        held.callback(self.daemon.close)
        self.daemon.home = self.world.place.home
        trusted = self.daemon.home / ".gemini" / "trustedFolders.json"
        trusted.parent.mkdir()
        trusted.write_text(json.dumps({str(self.world.place.work): "TRUST_FOLDER"}), "utf-8")
        know_no_models(self.daemon.home)
        self.daemon.start()
        self.call("PUT", "/api/settings", customModelEndpointsEnabled=True)
        self.endpoint = self.call(
            "POST",
            "/api/model-endpoints",
            label="stub",
            baseUrl=f"{self.world.stub.url}/v1",
            apiKey=self.key,
            authStyle=style,
        )["endpoint"]["id"]
        answer = self.call(
            "POST",
            "/api/sessions",
            mode=mode,
            workingDir=str(self.world.place.work),
            customModel={"endpointId": self.endpoint, "modelId": MODEL},
            start=True,
        )
        self.session = answer["session"]["id"]
        self.path = f"/api/sessions/{self.session}"

    def call(self, method: str, path: str, **body: Any) -> Any:
        return self.daemon.request(method, path, body or None, patience=HELD).data()

    def record(self) -> dict[str, Any]:
        found: dict[str, Any] = self.call("GET", self.path)
        return found

    def screen(self) -> str:
        return str(self.call("GET", f"{self.path}/terminal")["terminalBuffer"])

    def told(self) -> str:
        return f"{self.record()['statusReason']}\n{self.screen()}"

    def answered(self, text: str) -> None:
        """A prompt is answered by the stub, asked with the model and the key."""
        body = {"input": f"SAY: {text}\r"}
        answer = self.daemon.request("POST", f"{self.path}/input", body, patience=HELD)
        self.assertEqual(200, answer.status, f"{answer.body!r}\n{self.told()}")

        def turn() -> bool:
            turns = self.world.stub.turns()
            return any(each.prompt == f"SAY: {text}" and each.outcome == "said" for each in turns)

        wait_until("the turn", turn, told=self.told)
        requests = self.world.stub.requests()
        self.assertEqual({MODEL}, {each.model for each in requests if not each.side})
        for each in requests:
            sent = " ".join(each.keys.values())
            self.assertIn(self.key, sent, each.protocol)
            self.assertNotIn(OWN, sent)
        record = self.record()
        shown = (record["displayModel"], record["displayModelSource"])
        self.assertEqual((MODEL, "custom-endpoint"), shown)
        custom = {"endpointId": self.endpoint, "modelId": MODEL, "label": "stub"}
        self.assertEqual(custom, record["customModel"])

    def nobody_else_has_the_key(self) -> None:
        """No command line; no environment but that of the pane's program and its children."""
        pid, key = self.record()["pid"], self.key.encode()
        above = [*ancestors(pid)]

        def strangers() -> list[bytes]:
            found = []
            for family, arguments, variables in processes():
                self.assertNotIn(key, arguments)
                if key in variables and pid not in family:
                    self.assertNotIn(self.daemon.pid, family, arguments)
                    self.assertNotIn(family[0], above, arguments)
                    found.append(arguments)
            return found

        # Whose parent ends is nobody's child for as long as it takes to end, too.
        wait_until("the end of all others", lambda: not strangers(), told=strangers)
        self.assertNotIn(self.key, self.daemon.log)
        for route in ("/api/sessions", "/api/settings", "/api/model-endpoints", "/api/audit"):
            self.assertNotIn(self.key.encode(), self.daemon.request("GET", route).body, route)
        kept = {path: mode for path, mode, data in files(self.daemon.data)
                if self.key.encode() in data}  # fmt: skip
        self.assertIn(self.daemon.data / "model-endpoints.json", kept)
        for path, mode in kept.items():
            self.assertEqual(0o600, mode & 0o777, path)

    def it_leaves_nothing(self) -> None:
        homes = self.daemon.data / "model-homes"
        self.assertEqual([self.session], [each.name for each in homes.iterdir()])
        refused = self.daemon.request("DELETE", f"/api/model-endpoints/{self.endpoint}")
        self.assertEqual(409, refused.status)
        self.call("DELETE", self.path)
        wait_until("the folder's end", lambda: not list(homes.iterdir()))
        self.call("DELETE", f"/api/model-endpoints/{self.endpoint}")

    def walk(self, cli: str, mode: str, style: str = "bearer", **environment: str) -> None:
        self.begin(cli, mode, style, **environment)
        self.answered("hello there")
        self.nobody_else_has_the_key()
        self.it_leaves_nothing()

    def test_claude_uses_the_custom_endpoint_and_keeps_its_conversation(self) -> None:
        """Its conversation is among the user's own, and goes on under another model."""
        self.begin("claude", "primary", ANTHROPIC_API_KEY=OWN, ANTHROPIC_CUSTOM_HEADERS="x: y")
        self.answered("hello there")
        self.nobody_else_has_the_key()
        kept: list[Path] = []

        def written() -> bool:
            kept[:] = (self.daemon.home / ".claude" / "projects").rglob("*.jsonl")
            return "hello there" in read_answers_on_disk(self.daemon.home)

        wait_until("the conversation in its file", written, told=self.told)
        self.assertEqual(1, len(kept))
        wait_until("the end of the turn", lambda: self.record()["status"] == "idle", told=self.told)
        wish = {"endpointId": self.endpoint, "modelId": MODEL}
        changed = self.call("POST", f"{self.path}/custom-model", **wish)
        self.assertTrue(changed["restarted"])
        self.answered("again")
        said = self.world.stub.conversation()
        self.assertEqual(2, len(said), said)
        self.it_leaves_nothing()
        self.assertTrue(kept[0].exists())

    def test_claude_uses_a_custom_model_by_api_key(self) -> None:
        self.walk("claude", "primary", "api-key")

    def test_codex_uses_the_custom_endpoint(self) -> None:
        self.walk("codex", "codex", OPENAI_API_KEY=OWN)

    def test_gemini_uses_the_custom_endpoint(self) -> None:
        self.walk("gemini", "gemini")

    def test_opencode_uses_the_custom_endpoint(self) -> None:
        self.walk("opencode", "opencode")

    def test_pi_uses_the_custom_endpoint(self) -> None:
        self.walk("pi", "pi")

    def test_older_pi_uses_the_custom_endpoint(self) -> None:
        self.walk("pi-0.73", "pi", "api-key")


def processes() -> Iterator[tuple[tuple[int, ...], bytes, bytes]]:
    """Every process that can be looked at: its id and its ancestors', its command line, its
    environment.
    """
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            process = int(entry.name)
            try:
                # In this order: whose environment can be read then was there all the while.
                yield (
                    (process, *ancestors(process)),
                    (entry / "cmdline").read_bytes(),
                    (entry / "environ").read_bytes(),
                )
            except OSError:
                continue  # it ended meanwhile, or is another user's


def ancestors(process: int) -> Iterator[int]:
    """The parents of a process, nearest first."""
    while process > 1:
        try:
            line = Path(f"/proc/{process}/stat").read_text("utf-8", "replace")
        except OSError:
            return
        process = int(line.rpartition(")")[2].split()[1])
        yield process


def files(folder: Path) -> Iterator[tuple[Path, int, bytes]]:
    """Every regular file below with its mode and content, links not followed.

    A CLI that runs may take away its files, and folders, at any moment.
    """
    for here, _, names in os.walk(folder):
        for path in (Path(here, name) for name in names):
            with passing(FileNotFoundError):
                mode = path.lstat().st_mode
                if stat.S_ISREG(mode):
                    yield path, mode, path.read_bytes()
