"""When Codex starts with a server of its own, and the shell that starts both."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from twisted.internet.defer import ensureDeferred
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.agents.harness import AgentHarnessCase
from tests.waiting import PATIENCE
from tservice.agents.channels.build import build_server_channels
from tservice.agents.channels.codex.sockets import CodexSockets
from tservice.clis.agents.codex.app_server import SERVER_CHANNEL, is_folder_trusted
from tservice.clis.interfaces import LaunchPlan

PLAYED = f"""#!{sys.executable}
import os, socket, sys
with open("log", "a") as log:
    print(*sys.argv[1:], file=log)
if sys.argv[1] == "app-server":
    path = sys.argv[3].removeprefix("unix://")
    if not os.path.exists("refuses"):
        server = socket.socket(socket.AF_UNIX)
        server.bind(path)
        server.listen()
        os.read(os.open("done", os.O_RDONLY), 1)
"""


class ScriptTests(SynchronousTestCase):
    """The shell in the pane, with a played program."""

    def setUp(self) -> None:
        self.folder = Path(self.mktemp()).absolute()
        self.folder.mkdir()
        self.program = self.folder / "codex"
        self.program.write_text(PLAYED)
        self.program.chmod(0o755)
        os.mkfifo(self.folder / "done")

    def run_pane(self, *words: str) -> list[str]:
        argv = SERVER_CHANNEL.build_argv((str(self.program), "--no-daemon", *words), Path("s.sock"))
        done = os.open(self.folder / "done", os.O_RDWR)
        try:
            subprocess.run(argv, cwd=self.folder, check=True, timeout=PATIENCE)
        finally:
            os.write(done, b"x")
            os.close(done)
        return (self.folder / "log").read_text().splitlines()

    def test_program_connects_to_its_server_with_the_same_words(self) -> None:
        said = self.run_pane("resume", "0a", "--model", "m $x 'y'")
        self.assertEqual(
            ["app-server --listen unix://s.sock",
             "--remote unix://s.sock resume 0a --model m $x 'y'"],
            said,
        )  # fmt: skip

    def test_program_starts_as_usual_without_a_server(self) -> None:
        (self.folder / "refuses").touch()
        said = self.run_pane("resume", "0a")
        self.assertEqual("--no-daemon resume 0a", said[-1])

    def test_socket_of_before_is_removed(self) -> None:
        old = self.folder / "codex-daemon-0" / "x"
        old.parent.mkdir()
        old.touch()
        (self.folder / "s.sock").symlink_to(old)
        self.assertEqual(2, len(self.run_pane()))
        self.assertFalse(old.exists())


class TrustTests(SynchronousTestCase):
    """L{is_folder_trusted}."""

    def setUp(self) -> None:
        self.home = Path(self.mktemp()).absolute()
        self.work = self.home / "work" / "deep"
        self.work.mkdir(parents=True)

    def judge(self, *levels: tuple[Path, str], config: str = "", **env: str) -> bool:
        lines = [f'[projects."{path}"]\ntrust_level = "{level}"\n' for path, level in levels]
        folder = Path(env.get("CODEX_HOME", self.home / ".codex"))
        folder.mkdir(exist_ok=True, parents=True)
        (folder / "config.toml").write_text(config or "".join(lines))
        return is_folder_trusted(self.work, {"HOME": str(self.home), **env})

    def test_folder_or_its_repository_has_to_be_trusted(self) -> None:
        self.assertTrue(self.judge((self.work, "trusted")))
        self.assertFalse(self.judge((self.work, "untrusted")))
        self.assertFalse(self.judge((self.work.parent, "trusted")))
        (self.work.parent / ".git").mkdir()
        self.assertTrue(self.judge((self.work.parent, "trusted")))
        self.assertFalse(self.judge((self.work.parent, "trusted"), (self.work, "untrusted")))

    def test_moved_configuration_is_read(self) -> None:
        moved = str(self.home / "moved")
        self.assertTrue(self.judge((self.work, "trusted"), CODEX_HOME=moved))
        self.assertFalse(is_folder_trusted(self.work, {"HOME": str(self.home)}))
        self.assertFalse(is_folder_trusted(self.work, {"CODEX_HOME": "moved"}))

    def test_strange_configuration_trusts_nothing(self) -> None:
        for config in ("[", "projects = 7", f'[projects]\n"{self.work}" = 7', "x = 1"):
            self.assertFalse(self.judge(config=config), config)


class LaunchTests(AgentHarnessCase):
    """L{tservice.agents.channels.codex.launch.ServerLaunch}."""

    def setUp(self) -> None:
        super().setUp()
        self.version: str | None = "0.169.0"
        self.patch(type(self.machine.clis), "_read_version", self.read_version)
        self.home = Path(self.mktemp()).absolute()
        (self.home / ".codex").mkdir(parents=True)
        config = f'[projects."{self.work}"]\ntrust_level = "trusted"\n'
        (self.home / ".codex" / "config.toml").write_text(config)
        self.session = self.agent(mode="codex")

    async def read_version(self, *request: Any) -> str | None:
        return self.version

    def start(self, *argv: str, **fields: Any) -> tuple[str, ...]:
        ground = self.machine.ground()
        channels = build_server_channels(
            ground, self.agents.agents, self.machine.clis, self.agents.hooks
        )
        plan = LaunchPlan(
            argv=argv or ("/bin/codex", "--no-daemon"), env={"HOME": str(self.home)}, params={}
        )
        return self.successResultOf(
            ensureDeferred(channels.launch.add_channel(self.session, plan))
        ).argv

    def test_session_in_a_trusted_folder_has_a_server(self) -> None:
        self.patch(CodexSockets, "get_path", lambda self, name: Path("/run/s.sock"))
        argv = self.start("/bin/codex", "--no-daemon", "resume", "0a")
        self.assertEqual(("/bin/sh", "-c"), argv[:2])
        self.assertEqual(("/bin/codex", "/run/s.sock", "resume", "0a"), argv[4:])

    def test_anything_else_starts_as_usual(self) -> None:
        self.patch(CodexSockets, "get_path", lambda self, name: Path("/run/s.sock"))
        usual = ("/bin/codex", "--no-daemon")
        for version in ("0.168.9", "0.156", None):
            self.version = version
            self.assertEqual(usual, self.start(), version)
        self.version = "0.171.0"
        self.assertEqual(("/bin/codex",), self.start("/bin/codex"))
        self.assertEqual("/bin/sh", self.start()[0])
        self.change_settings(agent_channels_off=("codex",))
        self.assertEqual(usual, self.start())
        self.change_settings(agent_channels_off=())
        (self.home / ".codex" / "config.toml").unlink()
        self.assertEqual(usual, self.start())

    def test_socket_with_a_long_path_means_no_server(self) -> None:
        self.patch(CodexSockets, "get_path", lambda self, name: None)
        self.assertEqual(("/bin/codex", "--no-daemon"), self.start())

    def test_other_mode_has_no_server(self) -> None:
        self.session = self.ready()
        self.assertEqual(("/bin/codex", "--no-daemon"), self.start())
