"""A full disk under the real daemon: refusals say so, typing goes on, and room mends everything."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from http.client import HTTPConnection, HTTPResponse
from urllib.parse import urlsplit

import pytest
from twisted.trial.unittest import SkipTest, SynchronousTestCase

from bench.client import Terminal, new_session, wait_output
from tests.integration.files import PNG, SessionFiles, form_body
from tests.integration.git_servers import commit_files, make_repository
from tests.integration.harness import PATIENCE, DaemonAnswer
from tests.integration.mount_namespace import mount_obstacle
from tests.integration.small_disk import TRIAL, SmallDiskDaemon
from tests.run_figures import report_figure
from tests.unit.http.gate_harness import basic_headers

pytestmark = pytest.mark.extended

PASSWORD = "correct horse"


class SmallDiskCase(SynchronousTestCase):
    environment: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}

    def setUp(self) -> None:
        why = mount_obstacle(*TRIAL)
        if why is not None:
            report_figure(f"full disk: not shown, {why}")
            raise SkipTest(why)
        self.daemon = SmallDiskDaemon(**self.environment)
        self.addCleanup(self.daemon.close)
        self.daemon.start()

    def metric(self, name: str) -> float:
        text = self.ask("GET", "/metrics").body.decode()
        return float(
            next(
                line for line in text.splitlines() if line.startswith(f"tservice_{name} ")
            ).split()[-1]
        )

    def until(self, holds: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE
        while not holds():
            if time.monotonic() > end:
                self.fail(f"it never came:\n{self.daemon.log[-3000:]}")
            threading.Event().wait(0.05)

    def refused(self, answer: DaemonAnswer, text: str = "the disk is full") -> None:
        self.assertEqual(422, answer.status, answer.body)
        self.assertEqual("OPERATION_FAILED", answer.json()["errorCode"])
        self.assertIn(text, answer.json()["error"])

    def ask(self, method: str, path: str, body: object = None) -> DaemonAnswer:
        return self.daemon.request(method, path, body, self.headers)

    def press(self, terminal: Terminal, text: str) -> None:
        """Type as a person does, key by key; each is accepted before the next."""
        for key in text:
            terminal.type(key)
            answer = {"t": ""}
            while answer["t"] != "ack":
                message = terminal.socket.recv(PATIENCE)
                answer = json.loads(message) if isinstance(message, str) else answer
            self.assertNotIn("err", answer)

    def stuff(self) -> None:
        """Fill the disk, the room inside of the store's own files too."""
        self.daemon.fill()
        for number in range(2000):
            body = {"mode": "shell", "start": False, "name": "x" * 100 + str(number)}
            if self.ask("POST", "/api/sessions", body).status == 422:
                return
        self.fail("the disk never got full")


class FullDiskTests(SmallDiskCase):
    def test_typing_user_can_free_space_on_a_full_disk(self) -> None:
        session = new_session(self.daemon)
        kept = self.ask("GET", f"/api/sessions/{session}").data()["name"]
        terminal = Terminal(self.daemon, session)
        self.addCleanup(terminal.close)
        self.stuff()
        # What cannot be kept is refused, and changes nothing.
        name = f"/api/sessions/{session}/name"
        self.refused(self.ask("PUT", name, {"name": "y" * 100}))
        self.refused(self.ask("PUT", "/api/settings", {"defaultMode": "shell"}))
        self.refused(self.ask("POST", "/api/sessions", {"mode": "shell"}))
        self.refused(
            self.ask("POST", f"/api/sessions/{session}/input", {"input": "echo\r", "useMux": True})
        )
        self.assertEqual(kept, self.ask("GET", f"/api/sessions/{session}").data()["name"])
        # It is told.
        self.assertEqual(1, self.metric("disk_trouble"))
        rows = self.ask("GET", "/api/doctor?category=core").data()["tools"]
        self.assertIn("the disk is full", {row["id"]: row for row in rows}["disk"]["reason"])
        # Somebody types, and makes room.
        self.press(terminal, "echo still-$((40 + 2))\r")
        wait_output(self.daemon, session, "still-42", "buffer")
        lines = self.daemon.log.count("\n")
        self.press(terminal, "x\x7f" * 100)
        self.assertLess(self.daemon.log.count("\n") - lines, 5)
        self.press(terminal, f"rm {self.daemon.filler}; echo made-$((40 + 2))\r")
        wait_output(self.daemon, session, "made-42", "buffer")
        self.until(lambda: self.metric("disk_trouble") == 0)
        self.until(lambda: self.metric("disk_owed") == 0)
        self.ask("PUT", name, {"name": "room"}).data()
        other = new_session(self.daemon)
        self.daemon.kill()
        self.daemon.start()
        found = {one["id"]: one for one in self.ask("GET", "/api/sessions").data()}
        self.assertEqual("room", found[session]["name"])
        self.assertIn(other, found)
        self.assertEqual([], [line for line in self.daemon.log.splitlines() if "Traceback" in line])

    def test_daemon_starts_on_a_full_disk(self) -> None:
        """Somebody must get in to make room, also after a crash."""
        session, other = (new_session(self.daemon) for _ in range(2))
        self.stuff()
        answer = self.ask("DELETE", f"/api/sessions/{other}")
        self.refused(answer)
        self.assertIn("ended, but a restart now would list it again", answer.json()["error"])
        self.assertEqual(404, self.ask("GET", f"/api/sessions/{other}").status)
        self.daemon.kill()
        self.daemon.start()
        self.assertIsNone(self.ask("GET", f"/api/sessions/{other}").data()["pid"])
        with contextlib.closing(Terminal(self.daemon, session)) as terminal:
            self.press(terminal, f"rm {self.daemon.filler}; echo made-$((40 + 2))\r")
            wait_output(self.daemon, session, "made-42", "buffer")
        self.until(lambda: self.metric("disk_trouble") == 0)
        self.ask("PUT", f"/api/sessions/{session}/name", {"name": "room"}).data()

    def test_disk_without_inodes_is_reported_and_recovers(self) -> None:
        """The database has its files; a terminal would need a socket."""
        # The folder of the sockets is made with the first.
        for _ in range(2):
            self.daemon.use_up_inodes()
            self.ask("POST", "/api/sessions", {"mode": "shell", "start": False}).data()
            self.refused(self.ask("PUT", "/api/settings", {"defaultMode": "shell"}))
            self.refused(self.ask("POST", "/api/sessions", {"mode": "shell", "start": True}))
            self.refused(self.ask("POST", "/api/quick-start", {"mode": "shell"}))
            self.daemon.give_inodes()
            new_session(self.daemon)
        self.assertEqual(4, len(self.ask("GET", "/api/sessions").data()))

    def test_streams_waits_and_reads_continue_on_a_full_disk(self) -> None:
        session = new_session(self.daemon)
        self.stuff()
        with contextlib.closing(Terminal(self.daemon, session)) as terminal:
            answers: list[object] = []
            waiting = threading.Thread(
                target=lambda: answers.append(
                    wait_output(self.daemon, session, "seen-42", "buffer")
                )
            )
            waiting.start()
            self.press(terminal, "echo seen-$((40 + 2))\r")
            waiting.join(PATIENCE)
        self.assertEqual(1, len(answers))
        self.follow(session)
        self.assertEqual(200, self.ask("GET", f"/api/sessions/{session}/terminal").status)
        self.assertEqual(200, self.ask("GET", "/api/status").status)

    def follow(self, session: str) -> None:
        """Follow a file, the events and an MCP client's notices, all begun on the full disk."""
        log = self.daemon.home / "log"
        log.write_text("first\n")
        begin = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
        began = self.ask("POST", "/mcp", begin)
        tail = self.stream(f"/api/sessions/{session}/tail-file?path=log&lines=1", "first")
        with log.open("a") as file:
            file.write("second\n")
        self.line_of(tail, "second")
        self.stream("/api/events", "event: init")
        notices = self.stream("/mcp", None, {"Mcp-Session-Id": began.headers["mcp-session-id"]})
        self.assertEqual(200, notices.status)

    def stream(self, path: str, said: str | None, headers: Mapping[str, str] = {}) -> HTTPResponse:
        """An answer that goes on, once it said so."""
        where = urlsplit(self.daemon.url)
        connection = HTTPConnection(str(where.hostname), where.port, timeout=PATIENCE)
        self.addCleanup(connection.close)
        connection.request("GET", path, headers=dict(headers))
        answer = connection.getresponse()
        if said is not None:
            self.line_of(answer, said)
        return answer

    def line_of(self, answer: HTTPResponse, said: str) -> None:
        """Read up to a line that holds C{said}."""
        while line := answer.readline().decode():
            if said in line:
                return
        self.fail(f"it ended without {said}")

    def test_crash_on_a_full_disk_types_nothing_twice(self) -> None:
        session = new_session(self.daemon)
        self.stuff()
        with contextlib.closing(Terminal(self.daemon, session, "me")) as terminal:
            self.press(terminal, "echo one-$((40 + 2))\r")
            wait_output(self.daemon, session, "one-42", "buffer")
        self.daemon.kill()
        self.daemon.inside("rm", str(self.daemon.filler))
        self.daemon.start()
        body = {"input": "echo two\r", "clientId": "me", "seq": len("echo one-$((40 + 2))\r")}
        again = self.ask("POST", f"/api/sessions/{session}/input", body).data()
        self.assertTrue(again["duplicate"])

    def key(self, session: str, client: str, seq: int) -> bool:
        """Whether a key of C{client} was typed now; else it was before."""
        body = {"input": client, "clientId": client, "seq": seq}
        answer = self.ask("POST", f"/api/sessions/{session}/input", body).data()
        self.assertNotEqual(answer["delivered"], answer.get("duplicate", False))
        return bool(answer["delivered"])

    def test_crash_on_a_full_disk_types_the_keys_of_no_client_twice(self) -> None:
        """Two clients that the disk knows, and two that it never heard of."""
        session = new_session(self.daemon)
        for client in "km":
            self.assertTrue(self.key(session, client, 1))
        self.stuff()
        for client in "kmxy":
            self.assertTrue(self.key(session, client, 2))
        for seq in (3, 4):
            self.daemon.kill()
            self.daemon.start()
            self.assertEqual([False] * 4, [self.key(session, client, 2) for client in "kmxy"])
            self.assertTrue(self.key(session, "k", seq))
        self.daemon.inside("rm", str(self.daemon.filler))
        self.until(lambda: self.metric("disk_owed") == 0)
        self.assertTrue(self.key(session, "k", 5))
        self.daemon.kill()
        self.daemon.start()
        self.assertEqual([False] * 4, [self.key(session, client, 2) for client in "kmxy"])


class FullDiskRightsTests(SmallDiskCase):
    """Rights that end while nothing can be written."""

    environment = {"SERVICE_MULTIUSER": "1", "SERVICE_PASSWORD": PASSWORD}
    headers = basic_headers("admin", PASSWORD)

    def status_for(self, name: str) -> int:
        path, headers = "/api/admin/users", basic_headers(name, PASSWORD)
        return self.daemon.request("GET", path, headers=headers).status

    def test_revoked_rights_end_immediately_on_a_full_disk(self) -> None:
        for name in ("ann", "max", "eve"):
            body = {"username": name, "password": PASSWORD, "role": "admin"}
            self.ask("POST", "/api/admin/users", body).data()
            self.assertEqual(200, self.status_for(name))
        self.stuff()
        self.refused(self.ask("PATCH", "/api/admin/users/ann", {"role": "user"}))
        self.refused(self.ask("PATCH", "/api/admin/users/max", {"enabled": False}))
        self.refused(self.ask("DELETE", "/api/admin/users/eve"))
        after = [("ann", 403), ("max", 401), ("eve", 401)]
        self.assertEqual(after, [(name, self.status_for(name)) for name, _ in after])
        self.refused(self.ask("PATCH", "/api/admin/users/ann", {"role": "admin"}))
        self.assertEqual(403, self.status_for("ann"))
        self.daemon.inside("rm", str(self.daemon.filler))
        self.until(lambda: self.metric("disk_owed") == 0)
        self.daemon.kill()
        self.daemon.start()
        self.assertEqual(after, [(name, self.status_for(name)) for name, _ in after])


class FullDiskCasesTests(SmallDiskCase):
    """The folder of the cases is on the small disk too."""

    def setUp(self) -> None:
        super().setUp()
        self.daemon.stop()
        self.daemon.environment["SERVICE_CASES_DIR"] = str(self.daemon.data / "cases")
        self.daemon.start()
        self.ask("POST", "/api/cases", {"name": "before"}).data()

    def tree(self) -> list[str]:
        return self.daemon.inside("find", str(self.daemon.data / "cases")).split()

    def test_case_operation_that_does_not_fit_leaves_nothing(self) -> None:
        source = make_repository(self.daemon.folder / "big")
        (source / "blob").write_bytes(os.urandom(6 * 1024 * 1024))
        commit_files(source)
        before = sorted(self.tree())
        clone = {"name": "big", "repository": str(source)}
        self.refused(self.ask("POST", "/api/cases/clone", clone))
        self.until(lambda: sorted(self.tree()) == before)
        self.daemon.fill()
        quick = {"caseName": "new", "mode": "shell"}
        for path, body in (
            ("/api/cases", {"name": "new"}),
            ("/api/cases/clone", clone),
            ("/api/quick-start", quick),
        ):  # fmt: skip
            self.refused(self.ask("POST", path, body))
            # What was begun is removed behind the answer.
            self.until(lambda: sorted(self.tree()) == before)
        self.daemon.inside("rm", str(self.daemon.filler))
        self.ask("POST", "/api/cases", {"name": "new"}).data()
        self.ask("DELETE", "/api/cases/before").data()

    def test_uploads_leave_room_on_the_disk(self) -> None:
        """Less than 1 GB is free here, and no byte of an upload is kept."""
        made = self.ask("POST", "/api/quick-start", {"caseName": "roomless", "mode": "shell"})
        files = SessionFiles(self.daemon, made.data()["sessionId"], {})
        for route, field in (("uploads", "file"), ("paste-image", "image"),
                             ("/api/screenshots", "file")):  # fmt: skip
            answer = files.post_form(route, form_body((field, "a.png", PNG)))
            self.refused(answer, "less than 1 GB or 5 % of it is free")
        found = self.daemon.inside("find", str(self.daemon.data), "-name", "*-*.png")
        self.assertEqual("", found + self.daemon.inside("find", str(self.daemon.data), "-name",
                                                        "*.part"))  # fmt: skip

    def test_features_on_a_full_disk_keep_the_old_or_the_new_state(self) -> None:
        """Endpoints, web tabs, timed runs, hosts, files: the old or the new, and said so."""
        self.ask("PUT", "/api/settings", {"customModelEndpointsEnabled": True}).data()
        made = self.ask("POST", "/api/quick-start", {"caseName": "before", "mode": "shell"}).data()
        session = made["sessionId"]
        content = f"/api/sessions/{session}/file-content"
        first = {"path": "kept", "content": "kept", "baseHash": None}
        saved = self.ask("PUT", content, first).data()["hash"]
        url = "http://127.0.0.1:1/"
        host: dict[str, object] = {"label": "kept", "host": "kept.invalid", "username": "me"}
        kept: dict[str, dict[str, object]] = {
            "/api/model-endpoints": {"label": "kept", "baseUrl": url, "apiKey": "k" * 4000},
            "/api/webviews": {"name": "kept", "url": url},
            "/api/remote-hosts": host,
        }
        for path, body in kept.items():
            self.ask("POST", path, body).data()
        acknowledged = {path: ["kept"] for path in kept}
        self.stuff()
        run = {"prompt": "x" * 1000, "durationMinutes": 1}
        for path, body in (*kept.items(), ("/api/scheduled", run)):
            name = next((each for each in ("label", "name") if each in body), "prompt")
            for number in range(100):
                answer = self.ask("POST", path, {**body, name: f"{number:040}"})
                if answer.status == 422:
                    break
                acknowledged.setdefault(path, []).append(f"{number:040}")
            self.refused(answer)
        more = {"path": "kept", "content": "x" * 500_000, "baseHash": saved}
        self.refused(self.ask("PUT", content, more))
        files = SessionFiles(self.daemon, session, {})
        self.refused(files.post_form("uploads", form_body(("file", "a.txt", b"x" * 500_000))))
        with contextlib.closing(Terminal(self.daemon, session)) as terminal:
            self.press(terminal, "cat kept; echo -$((40 + 2))\r")
            wait_output(self.daemon, session, "kept-42", "buffer")
        self.daemon.inside("rm", str(self.daemon.filler))
        self.until(lambda: self.metric("disk_trouble") == 0)
        self.daemon.kill()
        self.daemon.start()
        for path, names in acknowledged.items():
            found = json.dumps(self.ask("GET", path).data())
            self.assertEqual([], [each for each in names if f'"{each}"' not in found], path)
        self.assertEqual("kept", files.get("file-content", "kept").data()["content"])
