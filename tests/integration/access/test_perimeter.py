"""Accounts, tokens and the audit log on the real daemon; C{tsctl} beside it."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from http.client import HTTPConnection
from typing import Any

from tests.integration.harness import PATIENCE, DaemonAnswer, DaemonCase, DaemonHarness
from tests.unit.http.gate_harness import basic_headers

TSCTL = (sys.executable, "-c", "from tservice.client.ctl import main; main()")


class MultiuserTests(DaemonCase):
    """From the first start on."""

    def start(self) -> tuple[DaemonHarness, str]:
        daemon = self.daemon(SERVICE_MULTIUSER="1").start()
        once = daemon.wait_for_log(r"One-time password for admin: (\S+)")[1]
        return daemon, once

    def tsctl(self, daemon: DaemonHarness, *words: str, **environ: str) -> tuple[int, str]:
        ended = subprocess.run(
            [*TSCTL, *words],
            env={**daemon.environ(), **environ},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        return ended.returncode, ended.stdout + ended.stderr

    def test_first_admin_must_change_the_printed_password(self) -> None:
        daemon, once = self.start()
        found = daemon.request("GET", "/api/sessions", headers=basic_headers("admin", once))
        self.assertEqual("PASSWORD_CHANGE_REQUIRED", found.json()["errorCode"])
        body = {"currentPassword": once, "newPassword": "chosen by me"}
        changed = daemon.request("PUT", "/api/me/password", body, basic_headers("admin", once))
        self.assertEqual(200, changed.status)
        daemon.restart()
        self.assertEqual(1, daemon.log.count("ready at"))
        self.assertNotIn("One-time", daemon.log)
        me = daemon.request("GET", "/api/me", headers=basic_headers("admin", "chosen by me"))
        self.assertEqual(("admin", True), (me.data()["role"], me.data()["multiUser"]))

    def test_daemon_without_a_terminal_refuses_to_print_the_password(self) -> None:
        daemon = self.daemon(SERVICE_MULTIUSER="1")
        ended = subprocess.run(
            [sys.executable, "-c", "from twisted.scripts.twistd import run; run()", "--nodaemon",
             "--pidfile=", "tservice", "--listen=tcp:0:interface=127.0.0.1"],
            env=daemon.environ(), cwd=daemon.home, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        self.assertEqual(1, ended.returncode)
        self.assertIn("set SERVICE_PASSWORD", ended.stderr)
        self.assertEqual(1, len(ended.stderr.splitlines()), ended.stderr)

    def test_username_that_no_account_can_have_is_refused(self) -> None:
        daemon = self.daemon(SERVICE_MULTIUSER="1", SERVICE_USERNAME="Admin")
        self.assertIn("username: must match", self.refused(daemon))

    def test_token_scopes_are_enforced_and_the_audit_log_is_exported(self) -> None:
        daemon = self.daemon(SERVICE_MULTIUSER="1", SERVICE_PASSWORD="long enough").start()
        admin = basic_headers("admin", "long enough")

        def ask(method: str, path: str, body: Any = None) -> DaemonAnswer:
            return daemon.request(method, path, body, admin)

        scopes = ["sessions:read", "sessions:manage", "sessions:input"]
        made = ask("POST", "/api/tokens", {"name": "ci", "scopes": scopes}).data()
        environ = {"TSCTL_TOKEN": made["token"], "TSCTL_URL": daemon.url}
        status, text = self.tsctl(
            daemon, "call", "POST", "/sessions", '{"mode":"shell"}', **environ
        )
        self.assertEqual(0, status, text)
        status, text = self.tsctl(daemon, "call", "GET", "/admin/users", **environ)
        self.assertEqual((2, True), (status, "lacks the scope admin" in text), text)
        self.assertNotIn(made["token"], daemon.log)
        exported = daemon.folder / "audit.jsonl"
        daemon.stop()
        (daemon.data / "audit-key").write_text("of an earlier release")
        daemon.start(f"--audit-export={exported}")
        ask("PUT", "/api/settings", {})
        lines = [json.loads(line) for line in exported.read_text().splitlines()]
        self.assertIn(("admin", "PUT /api/settings"), [(e["actor"], e["action"]) for e in lines])
        self.assertFalse((daemon.data / "audit-key").exists())


class UnixSocketTests(DaemonCase):
    """A unix socket that others may open is no way past the login."""

    def test_shared_unix_socket_asks_for_the_login(self) -> None:
        daemon = self.daemon(SERVICE_PASSWORD="long enough")
        path = daemon.folder / "open.sock"
        daemon.start(listen=(f"unix:{path}:mode=666",))
        for headers, want in (
            ({}, 401),
            ({"X-Forwarded-For": "127.0.0.1"}, 401),
            ({"Host": "evil.example"}, 403),
            (basic_headers("admin", "wrong"), 401),
            (basic_headers("admin", "long enough"), 200),
        ):
            connection = HTTPConnection("localhost", timeout=PATIENCE)
            connection.sock = socket.socket(socket.AF_UNIX)
            connection.sock.connect(str(path))
            connection.request("GET", "/api/me", headers=headers)
            self.assertEqual(want, connection.getresponse().status, headers)
            connection.close()


class PasswordFloodTests(DaemonCase):
    """Wrong passwords from every side, on real sockets, with real argon2."""

    def test_right_password_and_hooks_pass_during_a_flood_of_guesses(self) -> None:
        daemon = self.daemon(SERVICE_MULTIUSER="1", SERVICE_PASSWORD="long enough").start()
        right = basic_headers("admin", "long enough")
        first = daemon.request("GET", "/api/me", headers=right)
        cookie = {"Cookie": first.headers["set-cookie"].partition(";")[0]}
        statuses = [
            daemon.request("GET", "/api/me", headers=basic_headers("admin", f"guess{n}")).status
            for n in range(12)
        ]
        self.assertEqual([401] * 12, statuses)  # the last wait their turn
        for headers in (cookie, right):
            self.assertEqual(200, daemon.request("GET", "/api/me", headers=headers).status)
        self.assertEqual(404, self.hook(daemon, daemon.data.joinpath("hook-secret").read_text()))
        wrong = [self.hook(daemon, "0" * 64) for _ in range(12)]
        self.assertEqual([401] * 10 + [429] * 2, wrong)
        self.assertEqual(404, self.hook(daemon, daemon.data.joinpath("hook-secret").read_text()))
        self.assertEqual(200, daemon.request("GET", "/api/me", headers=right).status)
        log = daemon.request("GET", "/api/admin/audit?action=login.failed", headers=cookie)
        self.assertEqual(2, len(log.data()["entries"]))

    def hook(self, daemon: DaemonHarness, secret: str) -> int:
        """The status of a hook's request; 404 is what one for an unknown session comes to."""
        body = {"event": "stop", "sessionId": "unknown", "data": {}}
        headers = {"X-Service-Hook-Secret": secret.strip()}
        return daemon.request("POST", "/api/hook-event", body, headers).status
