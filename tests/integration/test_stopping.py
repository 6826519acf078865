"""What becomes of clients and panes when the daemon stops, crashes, or cannot start."""

from __future__ import annotations

import http.client
import signal
import socket
import sqlite3
import time
from urllib.parse import urlsplit

from twisted.trial.unittest import SynchronousTestCase

from tests.integration.harness import PATIENCE, DaemonHarness

HANDSHAKE = (
    "GET /ws/sessions/{id}/terminal HTTP/1.1\r\nHost: {host}\r\n"
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)


class StoppingTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.daemon = DaemonHarness()
        self.addCleanup(self.daemon.close)
        self.daemon.start()

    def shell(self) -> str:
        body = {"mode": "shell", "start": True, "workingDir": str(self.daemon.home)}
        created = self.daemon.request("POST", "/api/sessions", body).data()["session"]
        return str(created["id"])

    def type(self, session: str, text: str, marker: str) -> None:
        """Type a line and wait for what it prints."""
        path = f"/api/sessions/{session}"
        self.daemon.request("POST", f"{path}/input", {"input": f"{text}\r"}).data()
        query = f"match={marker}&from=buffer&timeout={PATIENCE * 1000:.0f}"
        where = f"{path}/wait-output?{query}"
        found = self.daemon.request("GET", where, patience=2 * PATIENCE).data()
        self.assertTrue(found["wait"]["matched"], found)

    def pid(self, session: str) -> int | None:
        pid = self.daemon.request("GET", f"/api/sessions/{session}").data()["pid"]
        return None if pid is None else int(pid)

    def goes_on(self, number: int) -> None:
        """The same shell, with its variables, answers after a stop by C{number}."""
        session = self.shell()
        self.type(session, "kept=$((40 + 2)); echo set-$kept", "set-42")
        pid = self.pid(session)
        self.daemon.restart(number=number)
        self.assertEqual(pid, self.pid(session))
        self.type(session, "echo still-$kept", "still-42")

    def test_pane_outlives_a_service_stop(self) -> None:
        self.goes_on(signal.SIGTERM)

    def test_pane_outlives_a_service_crash(self) -> None:
        self.goes_on(signal.SIGKILL)

    def test_event_streams_receive_a_shutdown_event(self) -> None:
        where = urlsplit(self.daemon.url)
        connection = http.client.HTTPConnection(str(where.hostname), where.port, timeout=PATIENCE)
        self.addCleanup(connection.close)
        connection.request("GET", "/api/events")
        answer = connection.getresponse()
        self.addCleanup(answer.close)
        self.assertIn(b"id: ", answer.readline())
        self.daemon.stop()
        rest = answer.read().decode()
        self.assertIn("event: server:shutdown", rest)

    def test_stop_closes_web_sockets_with_1001(self) -> None:
        where = urlsplit(self.daemon.url)
        address = (str(where.hostname), int(where.port or 0))
        session = self.shell()
        with socket.create_connection(address, PATIENCE) as client:
            client.sendall(HANDSHAKE.format(id=session, host=where.netloc).encode())
            received = client.recv(65536)
            self.assertIn(b" 101 ", received)
            self.daemon.send(signal.SIGTERM)
            # An unmasked close frame of the server: 0x88, its length, then the code.
            while b"\x88" not in received or b"\x03\xe9" not in received:
                data = client.recv(65536)
                self.assertNotEqual(b"", data, received[-200:])
                received += data

    def test_stop_with_sessions_and_waits_is_clean(self) -> None:
        self.shell()
        self.assertEqual(-signal.SIGTERM, self.daemon.stop())
        self.assertIn("Server Shut Down", self.daemon.log)
        for word in ("Traceback", "Unhandled", "did not stop"):
            self.assertNotIn(word, self.daemon.log)

    def test_stop_during_uploads_is_clean(self) -> None:
        """What breaks off is noted while there is something to note it in."""
        where = urlsplit(self.daemon.url)
        session = self.shell()
        head = (
            f"POST /api/sessions/{session}/uploads HTTP/1.1\r\nHost: {where.netloc}\r\n"
            "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 900000\r\n\r\n"
            '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nsome of it'
        )
        with socket.create_connection((where.hostname, where.port), PATIENCE) as client:
            client.sendall(head.encode())
            deadline = time.monotonic() + PATIENCE
            while not any((self.daemon.home / ".service-uploads").glob("*")):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.05)
            self.assertEqual(-signal.SIGTERM, self.daemon.stop())
        for word in ("Traceback", "Unhandled", "did not stop"):
            self.assertNotIn(word, self.daemon.log)
        with sqlite3.connect(self.daemon.data / "tservice.db") as database:
            noted = database.execute("SELECT action FROM audit_log").fetchall()
        self.assertIn("uploads", str(noted))

    def test_foreign_database_file_is_refused(self) -> None:
        self.daemon.stop()
        path = self.daemon.data / "tservice.db"
        before = b"this is no database at all" * 100
        path.write_bytes(before)
        status, _, stderr = self.daemon.run()
        self.assertEqual(1, status)
        self.assertIn(f"database {path}", stderr)
        self.assertEqual(1, len(stderr.splitlines()))
        self.assertEqual(before, path.read_bytes())

    def test_unreadable_sessions_stop_the_start(self) -> None:
        """It must not answer without them: somebody would start them again."""
        session = self.shell()
        self.daemon.stop()
        with sqlite3.connect(self.daemon.data / "tservice.db") as database:
            database.execute("ALTER TABLE sessions RENAME TO hidden_sessions")
        database.close()
        status, stdout, stderr = self.daemon.run()
        self.assertEqual(1, status)
        self.assertIn("the sessions could not be restored", stdout)
        why = f"tservice: cannot start: database {self.daemon.data / 'tservice.db'}: no such table"
        self.assertEqual(1, len(stderr.splitlines()), stderr)
        self.assertTrue(stderr.startswith(why), stderr)
        self.assertNotIn("ready at", stdout)
        with sqlite3.connect(self.daemon.data / "tservice.db") as database:
            database.execute("ALTER TABLE hidden_sessions RENAME TO sessions")
        database.close()
        self.daemon.start()
        self.assertIsNotNone(self.pid(session))

    def test_unreadable_database_row_is_named(self) -> None:
        session = self.shell()
        self.daemon.stop()
        with sqlite3.connect(self.daemon.data / "tservice.db") as database:
            database.execute("UPDATE sessions SET params = '{'")
        database.close()
        status, stdout, stderr = self.daemon.run()
        self.assertEqual(1, status)
        self.assertIn(f"sessions: the row whose id is '{session}' cannot be read", stderr)
        self.assertEqual(1, len(stderr.splitlines()), stderr)
        self.assertNotIn("ready at", stdout)

    def test_start_without_tmux_fails_in_one_line(self) -> None:
        self.daemon.stop()
        empty = self.daemon.folder / "empty"
        empty.mkdir()
        self.daemon.environment["PATH"] = str(empty)
        status, _, stderr = self.daemon.run()
        self.assertEqual(
            (1, "tservice: tmux is missing: install tmux 3.2 or later\n"), (status, stderr)
        )
