"""The tunnel on the real daemon: a real child process, real signals, real requests.

The program is a shell script that prints what cloudflared prints, on the same stream.
"""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from twisted.trial.unittest import SynchronousTestCase

from tests.integration.harness import DaemonAnswer, DaemonHarness, wait_until_gone
from tests.unit.clis.fakes import make_program
from tests.unit.http.gate_harness import basic_headers
from tests.unit.tunnel import cloudflared_output

PASSWORD = "correct horse"
OWN = basic_headers("admin", PASSWORD)
UP = "the tunnel is up at"

PROGRAM = """#!/bin/sh
{trap}
sleep 600 &
echo "$$ $!" > "$HOME/pids"
echo "$*" > "$HOME/arguments"
env > "$HOME/environment"
cat "$HOME/banner" >&2
wait
"""


class DaemonTunnelCase(SynchronousTestCase):
    password: str | None = PASSWORD

    def setUp(self) -> None:
        given = {} if self.password is None else {"SERVICE_PASSWORD": self.password}
        self.daemon = DaemonHarness(**given)
        self.addCleanup(self.daemon.close)
        self.addCleanup(self.end_leftovers)
        self.home = self.daemon.home
        (self.home / "banner").write_text(cloudflared_output.BANNER)
        self.install()
        self.daemon.start()

    def install(self, trap: str = "") -> None:
        """The program; C{trap} is what it does about signals."""
        path = make_program(self.daemon.folder, "tunnel", PROGRAM.format(trap=trap))
        self.daemon.environment["SERVICE_TUNNEL_COMMAND"] = str(path)

    def end_leftovers(self) -> None:
        """Of a test that failed."""
        for pid in self.pids():
            with contextlib.suppress(OSError):
                # Its number may be another process' by now.
                line = Path(f"/proc/{pid}/cmdline").read_bytes()
                if line == b"sleep\x00600\x00" or b"/tunnel\0" in line:
                    os.kill(pid, signal.SIGKILL)

    def pids(self) -> list[int]:
        """The program, and the child that it started."""
        path = self.home / "pids"
        return [int(word) for word in path.read_text().split()] if path.exists() else []

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> DaemonAnswer:
        own = OWN if self.password is not None else {}
        return self.daemon.request(method, path, body, {**own, **headers})

    def start(self) -> list[int]:
        found = self.ask("POST", "/api/tunnel/start").data()
        self.assertEqual({"running": True, "url": cloudflared_output.URL}, found)
        return self.pids()

    def code(self) -> str:
        return str(self.ask("GET", "/api/tunnel/qr").data()["url"].rpartition("/")[2])

    def enter(self, code: str) -> DaemonAnswer:
        """Scan a code: the request that the tunnel would bring."""
        headers = {
            "Host": cloudflared_output.HOST,
            "User-Agent": "a phone",
            "X-Forwarded-For": "203.0.113.9",
            "X-Forwarded-Proto": "https",
        }
        return self.daemon.request("GET", f"/q/{code}", None, headers)

    def page(self) -> dict[str, str]:
        """What the page of a phone shows that was signed in."""
        entered = self.enter(self.code())
        self.assertEqual(302, entered.status, entered)
        key = entered.headers["location"].partition("#key=")[2]
        cookie = entered.headers["set-cookie"].partition(";")[0]
        return {"Cookie": cookie, "X-Service-Key": f"qr-{key}"}

    def status(self, headers: dict[str, str]) -> int:
        return self.daemon.request("GET", "/api/me", None, headers).status

    def assertGone(self, pids: list[int]) -> None:
        self.assertEqual(2, len(pids))
        for pid in pids:
            wait_until_gone(pid)


class DaemonTunnelTests(DaemonTunnelCase):
    def test_phone_signs_in_with_one_scan(self) -> None:
        self.start()
        arguments = (self.home / "arguments").read_text()
        self.assertEqual(f"tunnel --url {self.daemon.url}\n", arguments)
        environment = (self.home / "environment").read_text()
        self.assertNotIn("SERVICE_", environment)
        self.assertNotIn(PASSWORD, environment)
        code = self.code()
        entered = self.enter(code)
        self.assertEqual(302, entered.status)
        self.assertRegex(entered.headers["location"], r"^/#key=[0-9a-f]{64}$")
        self.assertTrue(entered.headers["set-cookie"].endswith("; Secure"))
        shown = self.ask("GET", "/api/tunnel/status").data()["authSessions"]
        [phone] = [session for session in shown if session["method"] == "qr"]
        self.assertEqual(("203.0.113.9", "a phone"), (phone["ip"], phone["ua"]))
        self.assertEqual(401, self.enter(code).status)
        self.assertNotIn(code, self.daemon.log)

    def test_stopped_tunnel_ends_its_processes_and_its_code(self) -> None:
        pids = self.start()
        self.assertEqual(
            {"running": False, "url": None}, self.ask("POST", "/api/tunnel/stop").data()
        )
        self.assertGone(pids)
        self.assertEqual(404, self.ask("GET", "/api/tunnel/qr").status)

    def test_killed_tunnel_program_restarts_with_a_new_code(self) -> None:
        pids = self.start()
        code = self.code()
        os.kill(pids[0], signal.SIGKILL)
        self.daemon.wait_for_log(f"(?s){UP}.*it was killed by signal 9.*{UP}")
        self.assertGone(pids)
        self.assertNotEqual(pids, self.pids())
        self.assertEqual(401, self.enter(code).status)
        self.assertEqual(302, self.enter(self.code()).status)

    def test_killed_warden_restarts_the_tunnel(self) -> None:
        pids = self.start()
        group = os.getpgid(pids[0])
        self.assertNotIn(group, pids)
        os.kill(group, signal.SIGKILL)
        self.assertGone(pids)
        self.daemon.wait_for_log(f"(?s){UP}.*{UP}")

    def test_tunnel_ends_with_the_service(self) -> None:
        pids = self.start()
        self.assertEqual(-signal.SIGTERM, self.daemon.stop())
        self.assertGone(pids)
        for word in ("Traceback", "Unhandled", "did not stop"):
            self.assertNotIn(word, self.daemon.log)

    def test_killed_service_leaves_no_tunnel_process(self) -> None:
        pids = self.start()
        self.daemon.kill()
        self.assertGone(pids)

    def test_missing_tunnel_program_is_an_error(self) -> None:
        self.daemon.environment["SERVICE_TUNNEL_COMMAND"] = "no-such-tunnel"
        self.daemon.restart()
        found = self.ask("POST", "/api/tunnel/start")
        self.assertEqual(422, found.status)
        self.assertIn("there is no program no-such-tunnel", found.json()["error"])

    def test_tunnel_program_that_cannot_be_run_is_refused(self) -> None:
        path = self.daemon.folder / "tunnel"
        path.write_text("#!/no/such/interpreter\n")
        found = self.ask("POST", "/api/tunnel/start")
        self.assertEqual(422, found.status)
        self.assertIn("No such file or directory", found.json()["error"])

    def test_tunnel_setting_starts_the_tunnel_with_the_service(self) -> None:
        self.ask("PUT", "/api/settings", {"tunnelEnabled": True}).data()
        self.daemon.wait_for_log(UP)
        before = self.pids()
        self.daemon.restart()
        self.daemon.wait_for_log(UP)
        self.assertNotEqual(before, self.pids())
        self.ask("PUT", "/api/settings", {"tunnelEnabled": False}).data()
        self.assertGone(self.pids())


class TunnelRestartTests(DaemonTunnelCase):
    def token(self) -> tuple[str, dict[str, str]]:
        made = self.ask("POST", "/api/tokens", {"name": "t", "scopes": ["sessions:read"]}).data()
        return made["record"]["id"], {"Authorization": f"Bearer {made['token']}"}

    def test_cookies_and_tokens_survive_a_restart_and_codes_do_not(self) -> None:
        """Also after a crash: cookies and tokens do, revoked ones and codes do not."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            self.start()
            good, bad = self.page(), self.page()
            (_, token), (name, ended) = self.token(), self.token()
            shown = self.ask("GET", "/api/tunnel/status").data()["authSessions"]
            self.ask("POST", "/api/auth/revoke", {"sessionId": shown[-1]["id"]}).data()
            self.ask("DELETE", f"/api/tokens/{name}").data()
            code = self.code()
            self.daemon.restart(number=number)
            self.assertEqual([200, 401], [self.status(good), self.status(bad)])
            statuses = [
                self.daemon.request("GET", "/api/sessions", None, headers).status
                for headers in (token, ended)
            ]
            self.assertEqual([200, 401], statuses)
            self.assertEqual(401, self.enter(code).status)
            self.ask("POST", "/api/auth/revoke", {}).data()
            self.assertEqual(401, self.status(good))


@pytest.mark.extended
class DeafTests(DaemonTunnelCase):
    """A program that does not hear TERM, and whose child does not either."""

    def install(self, trap: str = "") -> None:
        super().install("trap '' TERM")

    def test_stop_kills_a_tunnel_that_ignores_term(self) -> None:
        pids = self.start()
        self.ask("POST", "/api/tunnel/stop").data()
        self.assertGone(pids)

    def test_service_stops_despite_a_tunnel_that_ignores_signals(self) -> None:
        pids = self.start()
        self.assertEqual(-signal.SIGTERM, self.daemon.stop())
        self.assertGone(pids)

    def test_killed_service_leaves_no_deaf_tunnel_process(self) -> None:
        pids = self.start()
        self.daemon.kill()
        self.assertGone(pids)


class OpenTunnelDaemonTests(DaemonTunnelCase):
    password = None

    def test_tunnel_start_without_a_password_is_forbidden(self) -> None:
        found = self.ask("POST", "/api/tunnel/start")
        self.assertEqual((403, "FORBIDDEN"), (found.status, found.json()["errorCode"]))
        self.assertEqual([], self.pids())

    def test_open_service_on_purpose_has_no_code(self) -> None:
        self.daemon.environment["SERVICE_ALLOW_UNAUTHENTICATED_NETWORK"] = "1"
        self.daemon.restart()
        self.start()
        found = self.ask("GET", "/api/tunnel/qr").data()
        self.assertEqual((cloudflared_output.URL, False), (found["url"], found["authEnabled"]))
        self.assertIsNone(found["expiresAt"])
        self.assertEqual(401, self.enter("abc123").status)
