"""The real child process among tools that lie, hang, flood, fail and leave things behind."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.task import LoopingCall
from twisted.trial.unittest import SynchronousTestCase, TestCase

from tests.integration.harness import PATIENCE, ROOT, wait_until_gone
from tests.non_empty import require_items
from tservice.core.disk.files import write_private_file
from tservice.core.kernel.errors import ServiceError
from tservice.core.process.child import ChildRunner, find_child_tools
from tservice.doctor.catalogue import ExaminedCli
from tservice.doctor.child_launch import TIME_LIMIT, encode_child_request
from tservice.doctor.host_report import print_report, run_child
from tservice.doctor.model import ToolCategory
from tservice.doctor.service import DoctorService

TSCTL = "from tservice.client.ctl import main; main()"
MINE = {"label": "My own", "shortBadge": "MY", "binaries": ["mine"], "argv": ["mine"],
        "version": {}}  # fmt: skip
TOOLS = {
    "tmux": "echo tmux 3.1c",
    "git": "echo hello",
    "curl": "exit 3",
    "soffice": "echo LibreOffice 7.4.7.2; sleep 600 & echo $! > $HOME/left",
    "pdftoppm": "echo 'pdftoppm version 22.12.0' >&2",
    "ssh": "exec sleep 600",
    "podman": "while :; do echo podman version 4.3.1; done",
    "cloudflared": "exec >&- 2>&-; exec sleep 600",
}


class FakeHost:
    """A PATH of nothing but fakes, and a home folder."""

    def __init__(self) -> None:
        self.home = Path("home").absolute()
        self.bin = Path("bin").absolute()
        self.home.mkdir()
        self.bin.mkdir()

    @property
    def environ(self) -> dict[str, str]:
        return {"PATH": f"{self.bin}:/usr/bin:/bin", "HOME": str(self.home)}

    def put(self, name: str, text: str) -> None:
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def report(
        self, category: ToolCategory | None, *clis: ExaminedCli
    ) -> dict[str, dict[str, Any]]:
        order = encode_child_request(category, clis, self.home)
        found = run_child(order, self.environ, TIME_LIMIT)
        assert found is not None
        return {tool["id"]: tool for tool in found["tools"]}


class DoctorToolTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.host = FakeHost()

    def test_doctor_survives_misbehaving_tools(self) -> None:
        for name, text in TOOLS.items():
            self.host.put(name, text)
        (self.host.bin / "libreoffice").mkdir()
        (self.host.bin / "docker").write_text("not executable")
        found = self.host.report(
            None, ExaminedCli(id="none", label="None", names=("nonesuch-cli",), install="get it")
        )
        shown = {
            name: (tool["status"], tool.get("version"), tool.get("reason"))
            for name, tool in found.items()
            if name in ("tmux", "git", "curl", "libreoffice", "pdftoppm", "ssh", "cloudflared",
                        "cli-none")
        }  # fmt: skip
        self.assertEqual(
            {
                "tmux": ("outdated", "3.1c", "3.2 or newer is needed"),
                "git": ("error", None, "it did not print its version"),
                "curl": ("error", None, "it ended with status 3"),
                "cli-none": ("missing", None, None),
                "libreoffice": ("error", None, "it did not answer within 5 seconds"),
                "pdftoppm": ("ok", "22.12.0", None),
                "ssh": ("error", None, "it did not answer within 5 seconds"),
                "cloudflared": ("error", None, "it did not end"),
            },
            shown,
        )
        self.assertEqual("ok", found["python"]["status"])
        self.assertTrue(found["tmux"]["installHint"])
        self.assertTrue(found["cli-none"]["installHint"])
        wait_until_gone(int((self.host.home / "left").read_text()))

    def test_flooding_doctor_tool_is_cut_off(self) -> None:
        self.host.put("podman", TOOLS["podman"])
        found = self.host.report(ToolCategory.OTHER)["podman"]
        self.assertEqual(
            ("ok", "4.3.1", str(self.host.bin / "podman")),
            (found["status"], found["version"], found["path"]),
        )

    def test_unusable_tool_is_reported_with_its_version(self) -> None:
        """A docker without its daemon, a podman without its storage, an ssh of another kind."""
        for name, version, asked in (
            ("docker", "Docker version 28.2.2", "version --format {{.Server.Version}}"),
            ("podman", "podman version 4.3.1", "info"),
            ("ssh", "OpenSSH_9.2p1 Debian", "-F none -G localhost"),
        ):
            self.host.put(
                name,
                f'case "$*" in -V|--version) echo {version};; "{asked}") echo Client:; '
                "printf 'no daemon \\033[1m\\n\\n' >&2; exit 1;; esac",
            )
        found = self.host.report(ToolCategory.OTHER)
        for name, version in (("docker", "28.2.2"), ("podman", "4.3.1"), ("ssh", "9.2p1")):
            self.assertEqual(
                ("error", version, "it ended with status 1: no daemon \ufffd[1m"),
                tuple(found[name].get(each) for each in ("status", "version", "reason")),
            )
        self.host.put("podman", "echo podman version 4.3.1")
        found = self.host.report(ToolCategory.OTHER)
        self.assertEqual(("ok", "error"), (found["podman"]["status"], found["docker"]["status"]))

    def test_doctor_shows_both_docker_versions(self) -> None:
        """The daemon is often another one than its client."""
        self.host.put(
            "docker",
            'case "$1" in --version) echo Docker version 28.2.2;; *) echo 20.10.24+x;; esac',
        )
        found = self.host.report(ToolCategory.OTHER)["docker"]
        self.assertEqual(
            ("ok", "28.2.2, daemon 20.10.24+x"), (found["status"], found.get("version"))
        )

    def test_doctor_command_reports_and_times_out(self) -> None:
        self.host.put("tmux", "echo tmux 3.4")
        self.host.put("curl", "echo curl 8.0.1")
        out = io.StringIO()
        self.assertEqual(
            0, print_report(ToolCategory.CORE, [], self.host.environ, self.host.home, out)
        )
        rows = [line.split() for line in out.getvalue().splitlines()]
        self.assertIn(["ok", "tmux", "3.4", "3.2", f"{self.host.bin}/tmux"], rows)
        self.host.put("curl", "exit 1")
        self.assertEqual(
            1, print_report(ToolCategory.CORE, [], self.host.environ, self.host.home, out)
        )
        status = print_report(None, [], self.host.environ, self.host.home, out, limit=0.001)
        self.assertEqual(2, status)

    def tsctl(self, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", TSCTL, "doctor", *words],
            env={**self.host.environ, "PYTHONPATH": str(ROOT), **environ},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    def test_tsctl_doctor_reports_an_outdated_tool(self) -> None:
        self.host.put("tmux", "echo tmux 3.1")
        found = self.tsctl("core")
        self.assertEqual((1, ""), (found.returncode, found.stderr))
        self.assertRegex(found.stdout, r"(?m)^outdated +tmux +3\.1 +3\.2 +required; ")
        self.assertIn("Claude Code", found.stdout)

    def test_tsctl_doctor_prints_a_table(self) -> None:
        head, *rows = self.tsctl("core").stdout.split("\n\n")[0].splitlines()
        starts = [head.index(word) for word in ("TOOL", "VERSION", "NEEDED", "WHERE")]
        for row in require_items(rows):
            self.assertEqual("    ", "".join(row.ljust(200)[start - 1] for start in starts), row)

    def test_tsctl_doctor_prints_json(self) -> None:
        """The answer of the API, and nothing else on stdout."""
        self.host.put("tmux", "echo tmux 3.1")
        self.configure(self.host.home / ".tservice", {"mine": {**MINE, "binaries": 3}})
        found = self.tsctl("core", "--json")
        self.assertEqual(1, found.returncode)
        tools = {tool["id"]: tool for tool in json.loads(found.stdout)["tools"]}
        self.assertEqual("outdated", tools["tmux"]["status"])
        self.assertIn("not in use: clis.json: mine: binaries", found.stderr)

    def test_tsctl_doctor_looks_for_the_configured_clis(self) -> None:
        """Those of the data folder: named, by the environment, or the usual one."""
        self.host.put("mine", "echo mine 4.5.6")
        self.configure(Path("elsewhere"), {"codex": {"enabled": False}, "mine": MINE})
        for found in (
            self.tsctl("core", "--data-dir", "elsewhere"),
            self.tsctl("core", SERVICE_DATA_DIR=str(Path("elsewhere").absolute())),
        ):
            self.assertRegex(found.stdout, r"(?m)^ok +My own +4\.5\.6 +- +/")
            self.assertNotIn("Codex", found.stdout)
        self.assertIn("Codex", self.tsctl("core").stdout)
        self.configure(self.host.home / ".tservice", {"codex": {"enabled": False}})
        self.assertNotIn("Codex", self.tsctl("core").stdout)

    def test_tsctl_reports_an_unusable_clis_file(self) -> None:
        file = self.configure(self.host.home / ".tservice", {"mine": {**MINE, "binaries": 3}})
        self.assertIn("not in use: clis.json: mine: binaries", self.tsctl("core").stdout)
        file.chmod(0o644)
        found = self.tsctl("core").stdout
        self.assertIn("not in use: clis.json", found)
        self.assertIn("Claude Code", found)

    def configure(self, folder: Path, clis: dict[str, Any]) -> Path:
        folder.mkdir(exist_ok=True)
        write_private_file(folder / "clis.json", json.dumps({"clis": clis}))
        return folder / "clis.json"

    def test_doctor_passes_no_secrets_of_the_service_to_tools(self) -> None:
        self.host.put("tmux", 'echo "tmux 3.4"; env > $HOME/env')
        order = encode_child_request(ToolCategory.CORE, [], self.host.home)
        run_child(order, {**self.host.environ, "SERVICE_PASSWORD": "s3cr3t"}, TIME_LIMIT)
        env = (self.host.home / "env").read_text()
        self.assertNotIn("s3cr3t", env)
        self.assertNotIn("PYTHONPATH", env)


class DoctorServiceTests(TestCase):
    """The daemon's side, with real processes."""

    def make(self, **fields: Any) -> DoctorService:
        self.host = FakeHost()
        io: Any = reactor
        return DoctorService(
            children=ChildRunner(io, io, find_child_tools(os.environ["PATH"])),
            environ=self.host.environ,
            home=self.host.home,
            clis=tuple,
            **fields,
        )

    async def test_service_report_lists_the_tools_of_a_category(self) -> None:
        service = self.make()
        found = await service.examine_host(ToolCategory.OFFICE)
        self.assertEqual({"libreoffice", "pdftoppm"}, {tool["id"] for tool in found["tools"]})
        await service.stop()

    async def test_failed_report_process_is_a_service_error(self) -> None:
        service = self.make(argv=lambda: ["/bin/sh", "-c", "echo oops >&2; exit 1"])
        with self.assertRaises(ServiceError) as caught:
            await service.examine_host(None)
        self.assertEqual(500, caught.exception.status)
        await service.stop()

    async def test_stop_ends_the_report_process_and_its_children(self) -> None:
        service = self.make()
        self.host.put("soffice", "echo $$ > $HOME/pid; exec sleep 600")
        asked: Deferred[Any] = Deferred.fromCoroutine(service.examine_host(ToolCategory.OFFICE))
        asked.addErrback(lambda failure: failure.trap(ServiceError))
        written = self.host.home / "pid"

        def look() -> None:
            if written.exists() and written.read_text():
                loop.stop()

        loop = LoopingCall(look)
        await loop.start(0.02)
        await service.stop()
        await asked
        wait_until_gone(int(written.read_text()))
        self.assertRaises(ProcessLookupError, os.kill, int(written.read_text()), signal.SIGCONT)
