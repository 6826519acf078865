"""Cases in real containers, and the real daemon that has them made."""

from __future__ import annotations

import os
import unittest
import uuid
from pathlib import Path
from typing import Any, ClassVar

from twisted.trial.unittest import SynchronousTestCase

from tests.integration.containers.engines import PodmanEngine, TestEngine, engine_obstacle
from tests.integration.containers.images import PROGRAMS
from tests.integration.harness import DaemonHarness
from tests.waiting import wait_until

IMAGE = "localhost/sessions:1"
BARE = "localhost/bare:1"
USER = 1234
SECRET = "of-nobody-else"


class CaseTestCase(SynchronousTestCase):
    """One daemon and one engine for all tests of a class, in a network of their own.

    An engine's bridge would come and go on the machine, and a browser takes that for a network
    that has changed: it ends what it is connecting to, also in the tests beside these.

    @cvar kind: the engine.
    """

    kind: ClassVar[type[TestEngine]] = PodmanEngine
    engine: ClassVar[TestEngine]
    daemon: ClassVar[DaemonHarness]
    meddling: ClassVar[Path]

    @classmethod
    def setUpClass(cls) -> None:
        why = engine_obstacle(cls.kind.name)
        if why is not None:
            raise unittest.SkipTest(f"this machine runs no containers: {why}")
        cls.engine = cls.kind()
        cls.enterClassContext(cls.engine.network())
        cls.addClassCleanup(cls.engine.close)
        cls.engine.image(IMAGE, (*PROGRAMS, "curl"))
        cls.engine.image(BARE, ("dash", "sleep"))
        engine = {k: v for k, v in cls.engine.environ.items() if k not in ("PATH", "HOME")}
        path = f"{cls.meddled()}:{os.environ['PATH']}"
        cls.daemon = DaemonHarness(**engine, SERVICE_DOCKER_BRIDGE_HOOKS="1", PATH=path)
        cls.addClassCleanup(cls.daemon.close)
        cls.daemon.folder.chmod(0o711)
        cls.signed_in(cls.daemon.home)
        cls.daemon.start()
        for label, image in (("Box", IMAGE), ("Bare", BARE)):
            cls.ask("POST", "/api/container-hosts", cls.host(label, image))

    @classmethod
    def meddled(cls) -> Path:
        """A folder with an engine before whose commands C{cls.meddling} is done, where it is there.

        It is a script of sh, which is given the words of the command.
        """
        cls.meddling = cls.engine.folder / "meddling"
        programs = cls.engine.folder / "programs"
        programs.mkdir()
        program = programs / cls.kind.name.value
        program.write_text(
            f"#!/bin/sh\n[ ! -e {cls.meddling} ] || . {cls.meddling}\n"
            f'exec {cls.kind.program()} "$@"\n'
        )
        program.chmod(0o755)
        return programs

    @classmethod
    def signed_in(cls, home: Path) -> None:
        """The service's user has signed in to an agent."""
        (home / ".claude").mkdir()
        (home / ".claude/.credentials.json").write_text("{}")

    @classmethod
    def host(cls, label: str, image: str, **more: Any) -> dict[str, Any]:
        resources = {"memory": "64m", "cpus": 1, "pids": 64}
        return {
            "label": label,
            "engine": cls.kind.name.value,
            "image": image,
            "network": "none",
            "resources": resources,
            **more,
        }

    @classmethod
    def ask(cls, method: str, path: str, body: Any = None) -> Any:
        return cls.daemon.request(method, path, body).data()

    def refused(self, method: str, path: str, body: Any, status: int) -> str:
        answer = self.daemon.request(method, path, body)
        self.assertEqual(status, answer.status, answer.body)
        return str(answer.json()["error"])

    def case(self, host: str = "box", name: str = "", user: int = USER) -> str:
        """A new case in a container.

        @param user: whose folder it is.
        """
        name = name or f"c{uuid.uuid4().hex[:8]}"
        folder = self.daemon.folder / name
        folder.mkdir()
        os.chown(folder, user, user)
        body = {"name": name, "hostId": host, "workspacePath": str(folder)}
        found = self.ask("POST", "/api/cases/container-link", body)["case"]
        box = {"hostId": host, "engine": self.kind.name.value, "workdir": "/workspace"}
        self.assertEqual("container", found["location"])
        self.assertEqual(found["container"], found["container"] | box)
        self.assertEqual(f"service-case-{name}", found["container"]["name"])
        return name

    def session(self, case: str) -> str:
        body = {
            "mode": "shell",
            "caseName": case,
            "start": True,
            "envOverrides": {"TOLD_ALONE": SECRET},
        }
        return str(self.ask("POST", "/api/sessions", body)["session"]["id"])

    def type(self, session: str, line: str, seq: int) -> Any:
        body = {"input": f"{line}\r", "clientId": "test", "seq": seq}
        return self.ask("POST", f"/api/sessions/{session}/input", body)

    def screen(self, session: str) -> str:
        found = self.ask("GET", f"/api/sessions/{session}/terminal")
        return str(found["terminalBuffer"])

    def until_shown(self, session: str, text: str) -> None:
        wait_until(text, lambda: text in self.screen(session))

    def told(self, session: str) -> Any:
        return self.ask("GET", f"/api/sessions/{session}")

    def until_reason(self, session: str, reason: str) -> None:
        wait_until(reason, lambda: self.told(session).get("paneExit", {}).get("reason") == reason)
        found = self.told(session)
        self.assertEqual((None, "idle"), (found["pid"], found["status"]))


def own_by(user: int, folder: Path) -> None:
    """Have everything below a folder belong to somebody."""
    for path in (folder, *folder.rglob("*")):
        os.chown(path, user, user, follow_symlinks=False)
