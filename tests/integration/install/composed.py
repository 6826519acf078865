"""The service in a container, as the compose file of this checkout runs it."""

from __future__ import annotations

import subprocess

from tests.held_port import HeldPort
from tests.integration.install.machine import MachineEngine
from tests.waiting import wait_until

SERVICE_IMAGE = "localhost/tservice:latest"
PROJECT = "tservicetest"


class ComposedService:
    """A running project of podman-compose.

    @ivar uid: number of the user that the service becomes; no user of the image has it.
    """

    uid, gid = 1234, 1235
    home = "/home/agent"
    password = "pears-and-plums"

    def __init__(self, engine: MachineEngine, folder: str) -> None:
        """@param folder: folder of the compose file; its image is built already."""
        self._engine, self._folder = engine, folder
        held = HeldPort()
        self._port = held.number
        held.close()
        self._name = f"{PROJECT}_tservice_1"
        self._compose("up", "--detach")

    def run(self, command: str) -> str:
        """Run a command line as the service's user, and return its output."""
        user = f"{self.uid}:{self.gid}"
        words = ("exec", "--user", user, "--env", f"HOME={self.home}", self._name)
        return self._engine.run(*words, "bash", "-lc", command)

    def wait_until_ready(self, starts: int = 1) -> None:
        """Wait until the service has started so often."""
        wait_until("the service is ready", lambda: self._count_starts() >= starts, told=self._logs)

    def restart_service(self) -> None:
        """Restart the service inside the container, and wait until it is ready."""
        starts = self._count_starts()
        self._engine.run("kill", "--signal", "HUP", self._name)
        self.wait_until_ready(starts + 1)

    def close(self) -> None:
        """Remove the containers and the volumes."""
        self._compose("down", "--volumes")

    def _count_starts(self) -> int:
        return self._logs().count("ready at http")

    def _logs(self) -> str:
        return self._engine.run("logs", self._name, check=False)

    def _compose(self, *words: str) -> None:
        chosen = {
            "SERVICE_PASSWORD": self.password,
            "TSERVICE_PORT": str(self._port),
            "TSERVICE_UID": str(self.uid),
            "TSERVICE_GID": str(self.gid),
        }
        done = subprocess.run(
            ["podman-compose", "--project-name", PROJECT, *words], cwd=self._folder,
            env={**self._engine.environ, **chosen}, capture_output=True, text=True,
            timeout=self._engine.limit, check=False,
        )  # fmt: skip
        if done.returncode:
            raise AssertionError(f"podman-compose {words[0]}: {done.stdout}{done.stderr}")
