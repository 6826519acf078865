"""Each way of installing on a new machine, from nothing to an agent that answers."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import unittest
from pathlib import Path
from typing import ClassVar

import pytest
from twisted.trial.unittest import SynchronousTestCase

from tests.agents.cli_cache import install_cli
from tests.agents.recipes import RunLocation, claude
from tests.agents.stub_model import StubProcess
from tests.integration.containers.engines import engine_obstacle
from tests.integration.install.composed import SERVICE_IMAGE, ComposedService
from tests.integration.install.machine import (
    HOME,
    IMAGE,
    Machine,
    MachineEngine,
    find_obstacle,
)
from tests.integration.install.wheels import build_wheel, copy_sources, run_program
from tests.waiting import wait_until
from tservice.containers.model import EngineKind

LOG = f"{HOME}/service.log"
ANSWER = "the pears are ripe"
COUNTER = "i=0; while sleep 0.1; do i=$((i+1)); echo $i >/workspaces/count; done"


@pytest.mark.long(minutes=15)
class InstallTests(SynchronousTestCase):
    """One image and one wheel for all tests; a machine for each."""

    engine: ClassVar[MachineEngine]
    folder: ClassVar[Path]
    wheel: ClassVar[Path]

    @classmethod
    def setUpClass(cls) -> None:
        why = find_obstacle() or engine_obstacle(EngineKind.PODMAN)
        if why is not None:
            raise unittest.SkipTest(f"no machine can be made: {why}")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.engine = MachineEngine()
        cls.addClassCleanup(cls.engine.close)
        cls.engine.make_base_image()
        copy_sources(cls.folder / "source")
        (cls.folder / "files").mkdir()
        cls.wheel = build_wheel(cls.folder / "source", cls.folder / "files", is_isolated=True)

    def machine(self) -> Machine:
        """A new machine, with the file to install and the program of an agent."""
        agent = install_cli("claude", os.environ).binary.resolve()
        mounts = [f"{self.folder}/files:/files", f"{agent}:/agent/claude"]
        machine = Machine(self.engine, self.id().rpartition(".")[2], mounts)
        self.addCleanup(machine.close)
        for program in ("cc", "gcc", "clang", "node", "git"):
            self.assertEqual("", machine.run(f"command -v {program} || true"))
        return machine

    def check_agent_answers(self, machine: Machine, tservice: str) -> None:
        """Start the service and an agent, and check that its answer arrives."""
        stub = StubProcess()
        self.addCleanup(stub.close)
        self.sign_in(machine, f"http://127.0.0.1:{stub.port}")
        machine.start(f"{tservice} up --listen tcp:0:interface=127.0.0.1", LOG)
        url = machine.wait_for_file("~/.tservice/address", LOG).split()[0]
        tsctl = f"TSCTL_URL={url} {tservice.replace('tservice', 'tsctl')}"
        prompt = f"--prompt 'SAY: {ANSWER}' --wait=stop --timeout 300"
        session = machine.run(f"{tsctl} new primary --dir ~/work {prompt}").split()[0]
        self.assertIn(ANSWER, machine.run(f"{tsctl} last {session}"))
        self.assertIn("tservice-keeper-", machine.run("cat /proc/[0-9]*/cmdline | tr '\\0' ' '"))
        machine.run(f"{tsctl} kill {session}")

    def sign_in(self, machine: Machine, url: str) -> None:
        """Write what an agent keeps of its user, with the stub model as its server."""
        with tempfile.TemporaryDirectory() as home:
            place = RunLocation(home=Path(home), work=Path(HOME, "work"), url=url)
            launch = claude(place, trusted=True)
            machine.write("~/.claude.json", Path(home, ".claude.json").read_text())
        accepted = {"env": dict(launch.env), "skipDangerousModePermissionPrompt": True}
        machine.write("~/.claude/settings.json", json.dumps(accepted))
        machine.run("mkdir -p ~/work ~/.local/bin && ln -s /agent/claude ~/.local/bin/claude")

    def test_wheel_fits_any_machine(self) -> None:
        self.assertTrue(self.wheel.name.endswith("-py3-none-any.whl"), self.wheel.name)

    def test_uv_tool_install(self) -> None:
        machine = self.machine()
        # As uv's own installer does, a program of its own.
        machine.run("python3 -m venv ~/uv && ~/uv/bin/pip install --quiet uv")
        machine.run("~/uv/bin/uv tool install --quiet /files/tservice-*.whl")
        self.check_agent_answers(machine, "~/.local/bin/tservice")
        self.assertIn("(uv tool, ", machine.run("~/.local/bin/tservice version"))

    def test_pipx_install(self) -> None:
        machine = self.machine()
        machine.run("pipx install --quiet /files/tservice-*.whl")
        self.check_agent_answers(machine, "~/.local/bin/tservice")
        self.assertIn("(pipx, ", machine.run("~/.local/bin/tservice version"))

    def test_pip_install(self) -> None:
        machine = self.machine()
        machine.run("python3 -m venv ~/venv && ~/venv/bin/pip install --quiet /files/*.whl")
        self.check_agent_answers(machine, "~/venv/bin/tservice")

    def test_container_keeps_sessions_while_its_service_restarts(self) -> None:
        """With the compose file, as a user whose numbers were chosen."""
        build = ("--network", "host", "--build-arg", f"BASE={IMAGE}", "--tag", SERVICE_IMAGE)
        source = str(self.folder / "source")
        self.engine.run("build", "--quiet", *build, "--file", f"{source}/Containerfile", source)
        composed = ComposedService(self.engine, source)
        self.addCleanup(composed.close)
        composed.wait_until_ready()
        tsctl = f"TSCTL_USER=admin TSCTL_PASSWORD={composed.password} tsctl"
        session = composed.run(f"{tsctl} new shell --dir /workspaces")
        composed.run(f"{tsctl} send {session} '{COUNTER}'")
        count = "cat /workspaces/count 2>/dev/null || echo 0"
        first = wait_until("the counter runs", lambda: int(composed.run(count)))
        composed.restart_service()
        self.assertIn(session[:8], composed.run(f"{tsctl} ls"))
        wait_until("the counter goes on", lambda: int(composed.run(count)) > first)
        self.assertEqual(f"{composed.uid} {composed.gid}", composed.run("stat -c '%u %g' /data"))
        # Agents are installed into the volume of the home folder, by npm as the page does it.
        self.assertEqual(f"{composed.home}/.local", composed.run("npm config get prefix"))
        shown = composed.run(f"{tsctl} send {session} --raw $'\\x03' && id -u && id -g")
        self.assertEqual(f"{composed.uid}\n{composed.gid}", shown)

    def test_source_archive_is_installed_without_node(self) -> None:
        """Its page is packed in, and without a compiler C{keeper.py} does the keeper's work."""
        build = "from build_backend import build_sdist; print(build_sdist('../archive'))"
        (self.folder / "archive").mkdir()
        source = self.folder / "source"
        path = f"import sys; sys.path[:0] = ['tools']; {build}"
        name = run_program(sys.executable, "-c", path, folder=source).splitlines()[-1]
        (self.folder / "archive" / name).rename(self.folder / "files" / name)
        machine = self.machine()
        machine.run(f"python3 -m venv ~/venv && ~/venv/bin/pip install --quiet /files/{name}")
        page = "~/venv/lib/python3*/site-packages/tservice/static/index.html"
        self.assertIn("<html", machine.run(f"cat {page}"))
        machine.run("~/venv/bin/tservice version")
