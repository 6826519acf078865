"""The daemon as its operator meets it: starts, refusals, stops, logs."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import ssl
import stat
import subprocess
import time
from pathlib import Path

from tests.integration.certificates import make_certificate
from tests.integration.harness import (
    LOOPBACK,
    PATIENCE,
    READY,
    TWISTD,
    DaemonCase,
    wait_until_gone,
)
from tests.waiting import wait_until


class DaemonStartTests(DaemonCase):
    def test_daemon_answers_at_its_logged_address_and_stops_cleanly(self) -> None:
        daemon = self.daemon().start()
        self.assertEqual({"ok": True}, daemon.request("GET", "/healthz").json())
        self.assertEqual(-signal.SIGTERM, daemon.stop())
        self.assertIn("Server Shut Down", daemon.log)
        for word in ("Traceback", "Unhandled", "Warning", "error "):
            self.assertNotIn(word, daemon.log)

    def test_data_folder_is_private(self) -> None:
        daemon = self.daemon().start()
        self.assertEqual(0o700, stat.S_IMODE(daemon.data.stat().st_mode))
        for path in daemon.data.rglob("*"):
            with contextlib.suppress(FileNotFoundError):  # a draft has its name for a moment
                self.assertEqual(0, stat.S_IMODE(path.stat().st_mode) & 0o077, path)

    def test_second_daemon_on_the_folder_is_refused(self) -> None:
        daemon = self.daemon().start()
        line = self.refused(daemon)
        self.assertIn(f"another tservice (pid {daemon.pid}) uses {daemon.data}", line)
        self.assertEqual(200, daemon.request("GET", "/healthz").status)

    def test_killed_daemon_restarts_without_clearing_up(self) -> None:
        daemon = self.daemon().start()
        daemon.kill()
        daemon.start()
        self.assertEqual(200, daemon.request("GET", "/healthz").status)

    def test_start_on_a_port_in_use_is_refused(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            endpoint = f"tcp:{port}:interface=127.0.0.1"
            line = self.refused(self.daemon(), listen=(endpoint,))
        self.assertIn(f"listen: {endpoint}: Address already in use", line)

    def test_daemon_listens_on_several_endpoints(self) -> None:
        daemon = self.daemon()
        path = daemon.folder / "t.sock"
        daemon.start(listen=(LOOPBACK, f"unix:{path}"))
        self.assertIn(f"unix:{path}", daemon.log)
        self.assertEqual(200, daemon.request("GET", "/healthz").status)

    def test_unknown_service_variable_gives_one_warning(self) -> None:
        daemon = self.daemon(SERVICE_MAX_SESSION="1").start()
        warnings = [line for line in daemon.log.splitlines() if "SERVICE_MAX_SESSION" in line]
        self.assertEqual(1, len(warnings))
        self.assertIn(" warn ", warnings[0])

    def test_daemon_reads_its_configuration_file(self) -> None:
        daemon = self.daemon()
        file = daemon.folder / "t.yaml"
        file.write_text("listen: ['tcp:0:interface=127.0.0.1']\nlog-format: json\n")
        daemon.start("--config", str(file), listen=())
        self.assertEqual(200, daemon.request("GET", "/healthz").status)


class DaemonRefusalTests(DaemonCase):
    def test_each_refusal_is_one_line(self) -> None:
        daemon = self.daemon()
        file = daemon.folder / "t.yaml"
        file.write_text("max_sessions: 1\n")
        for options, want in [
            (["--bogus"], "option --bogus not recognized"),
            (["word"], "Wrong number of arguments"),
            (["--max-sessions=0"], "--max-sessions: must be a whole number"),
            (["--config", str(file)], "unknown key 'max_sessions' (did you mean max-sessions?)"),
            (["--gesture", "--no-gesture"], "--gesture and --no-gesture are both given"),
        ]:
            self.assertIn(want, self.refused(daemon, *options))
        self.assertFalse(daemon.data.exists())

    def test_wrong_variable_stops_the_start(self) -> None:
        line = self.refused(self.daemon(SERVICE_MULTIUSER="perhaps"))
        self.assertIn("SERVICE_MULTIUSER: must be one of", line)

    def test_later_start_on_the_network_needs_a_password_too(self) -> None:
        daemon = self.daemon().start()
        daemon.stop()
        line = self.refused(daemon, listen=("tcp:0",))
        self.assertIn("tcp:0 can be reached by others and no password is set", line)

    def test_listening_on_the_network_needs_a_password(self) -> None:
        daemon = self.daemon(SERVICE_PASSWORD="open sesame").start(listen=("tcp:0",))
        self.assertEqual(401, daemon.request("GET", "/api/status").status)

    def test_data_folder_writable_by_others_is_refused(self) -> None:
        daemon = self.daemon()
        daemon.data.mkdir()
        daemon.data.chmod(0o777)
        self.assertIn("can be written to by others (mode 0777)", self.refused(daemon))


class DaemonEndpointTests(DaemonCase):
    def test_unix_socket_is_private_and_survives_a_kill(self) -> None:
        daemon = self.daemon()
        path = daemon.folder / "t.sock"
        for _ in range(2):
            daemon.start(listen=(f"unix:{path}",))
            self.assertEqual(0o600, stat.S_IMODE(path.stat().st_mode))
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(PATIENCE)
                client.connect(str(path))
                client.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                self.assertIn(b"HTTP/1.1 200", client.recv(4096))
            daemon.kill()
        self.assertTrue(path.exists())

    def test_tls_endpoint_answers_with_its_certificate(self) -> None:
        daemon = self.daemon()
        key, certificate = daemon.folder / "key.pem", daemon.folder / "cert.pem"
        make_certificate(key, certificate)
        daemon.start(listen=(f"ssl:0:privateKey={key}:certKey={certificate}:interface=127.0.0.1",))
        self.assertTrue(daemon.url.startswith("https://127.0.0.1:"))
        context = ssl.create_default_context(cafile=str(certificate))
        port = int(daemon.url.rpartition(":")[2])
        with (
            socket.create_connection(("127.0.0.1", port), PATIENCE) as plain,
            context.wrap_socket(plain, server_hostname="127.0.0.1") as client,
        ):
            client.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertIn(b"HTTP/1.1 200", client.recv(4096))


class DaemonLogTests(DaemonCase):
    def test_json_log_format_writes_json_lines(self) -> None:
        daemon = self.daemon(SERVICE_LOG_FORMAT="json").start()
        daemon.stop()
        events = [json.loads(line) for line in daemon.log.splitlines()]
        for event in events:
            self.assertLessEqual({"time", "level", "where", "message"}, set(event))
        (ready,) = [event for event in events if event.get("event") == "ready"]
        self.assertIn(daemon.url, ready["message"])

    def test_log_contains_no_password(self) -> None:
        password = "correct-horse-battery"
        daemon = self.daemon(SERVICE_PASSWORD=password, SERVICE_LOG_LEVEL="debug").start()
        for path in ("/api/status", f"/api/{password}", f"/{password}?p={password}"):
            daemon.request("GET", path, headers={"Authorization": f"Basic {password}"})
            daemon.request("GET", path, headers={"Cookie": f"service_session={password}"})
        daemon.request("POST", "/api/sessions", {password: password})
        daemon.stop()
        self.assertNotIn(password, daemon.log)

    def test_log_is_silent_below_its_level(self) -> None:
        daemon = self.daemon(SERVICE_LOG_LEVEL="warn", SERVICE_NONSENSE="1")
        daemon.start(until="SERVICE_NONSENSE")
        daemon.stop()
        self.assertEqual(1, len(daemon.log.splitlines()))


class DaemonisedTests(DaemonCase):
    """In the background, with a log file and a pid file, as the init script starts it."""

    def setUp(self) -> None:
        self.one = self.daemon()
        self.log = self.one.folder / "t.log"
        self.pidfile = self.one.folder / "t.pid"

    def twistd(self) -> subprocess.CompletedProcess[str]:
        words = [f"--pidfile={self.pidfile}", f"--logfile={self.log}", "--umask=022"]
        return subprocess.run(
            [*TWISTD, *words, "tservice", f"--listen={LOOPBACK}"],
            env=self.one.environ(),
            cwd=self.one.home,
            capture_output=True,
            text=True,
            # It is not preloaded: before it begins it imports the whole program.
            timeout=2 * PATIENCE,
            check=False,
        )

    def until_gone(self, path: Path) -> None:
        """The caller hears of a refusal before the child has cleared up."""
        deadline = time.monotonic() + PATIENCE
        while path.exists():
            self.assertLess(time.monotonic(), deadline, f"{path} stays")
            time.sleep(0.02)

    def end(self) -> None:
        pid = int(self.pidfile.read_text())
        os.kill(pid, signal.SIGTERM)
        wait_until_gone(pid)

    def test_daemonised_service_reopens_its_log_and_removes_its_pid_file(self) -> None:
        started = self.twistd()
        self.assertEqual((0, ""), (started.returncode, started.stderr))
        # The caller hears of a start before the reactor runs, which is who hears of signals.
        wait_until("it is ready", lambda: re.search(READY, self.log.read_text()))
        moved = Path(f"{self.log}.1")
        self.log.rename(moved)
        os.kill(int(self.pidfile.read_text()), signal.SIGUSR1)
        self.end()
        self.assertIn("starting up", moved.read_text())
        self.assertIn("Server Shut Down", self.log.read_text())
        self.assertFalse(self.pidfile.exists())

    def test_refused_start_reaches_the_caller_of_the_daemonised_service(self) -> None:
        self.one.start()
        started = self.twistd()
        self.assertEqual(1, started.returncode)
        self.assertIn(f"another tservice (pid {self.one.pid})", started.stderr)
        self.until_gone(self.pidfile)
