"""A daemon, and a real sshd on loopback with a home of its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.integration.harness import DaemonHarness
from tests.sshd import SshAgent, SshServer
from tests.waiting import wait_until


class RemoteCase(SynchronousTestCase):
    """One daemon and one sshd for the tests of a class, told apart by their hosts."""

    daemon: DaemonHarness
    sshd: SshServer
    agent: SshAgent

    @classmethod
    def setUpClass(cls) -> None:
        cls.daemon = DaemonHarness()
        cls.sshd = SshServer(cls.daemon.folder / "far")
        cls.agent = SshAgent(cls.daemon.folder / "agent")
        cls.daemon.environment["SSH_AUTH_SOCK"] = str(cls.agent.socket)
        cls.daemon.start()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.agent.close()
        cls.sshd.close()
        cls.daemon.close()

    def call(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        """The data of an answer, or the text of an error."""
        answer = self.daemon.request(method, "/api" + path, body)
        self.assertEqual(status, answer.status, answer.body)
        return answer.json()["data"] if status == 200 else answer.json()["error"]

    def host(self, label: str, **more: Any) -> str:
        """A host that stands for the sshd."""
        body = {
            "label": label,
            "host": "127.0.0.1",
            "username": os.environ.get("USER", "root"),
            "port": self.sshd.port,
            "identityFile": str(self.sshd.key),
            **more,
        }
        return str(self.call("POST", "/remote-hosts", body)["host"]["id"])

    def trusted(self, label: str, **more: Any) -> str:
        host = self.host(label, **more)
        shown = self.call("POST", f"/remote-hosts/{host}/check")["fingerprint"]
        self.call("POST", f"/remote-hosts/{host}/trust", {"fingerprint": shown})
        return host

    def until(self, true: Callable[[], Any], what: str) -> Any:
        return wait_until(what, true, told=lambda: self.daemon.log[-4000:])

    def screen(self, session: str) -> str:
        return str(self.call("GET", f"/sessions/{session}/terminal")["terminalBuffer"])

    def shell(self, host: str, case: str) -> str:
        (self.sshd.home / case).mkdir()
        body = {"name": case, "hostId": host, "remotePath": f"~/{case}"}
        made = self.call("POST", "/cases/remote-link", body)["case"]
        self.assertEqual("remote", made["location"])
        wanted = {"caseName": case, "mode": "shell", "start": True}
        session = self.call("POST", "/sessions", wanted)["session"]
        self.assertEqual("remote", session["location"])
        self.assertEqual(str(self.sshd.home / case), session["workingDir"])
        self.assertFalse(session["hooksAvailable"])
        self.assertIsInstance(session["pid"], int)
        return str(session["id"])

    def type(self, session: str, text: str, seq: int) -> Any:
        body = {"input": text, "clientId": "c", "seq": seq, "useMux": False}
        return self.call("POST", f"/sessions/{session}/input", body)

    def typed(self, session: str, text: str, seq: int) -> Any:
        """As L{type}; C{None} where the way is not there yet."""
        body = {"input": text, "clientId": "c", "seq": seq, "useMux": False}
        answer = self.daemon.request("POST", f"/api/sessions/{session}/input", body)
        return answer.data() if answer.status == 200 else None
