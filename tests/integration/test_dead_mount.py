"""A dead mount under the real daemon holds up whoever asks for it, and nobody else."""

from __future__ import annotations

import base64
import re
import signal
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from twisted.trial.unittest import SkipTest, SynchronousTestCase

from bench.client import new_session, run_line, wait_output
from tests.integration.dead_mount import DeadMount, dead_mount_obstacle
from tests.integration.frozen_mount import FrozenMount
from tests.integration.git_servers import make_repository
from tests.integration.harness import PATIENCE, DaemonAnswer, DaemonHarness
from tests.run_figures import report_figure
from tests.unit.http.gate_harness import basic_headers
from tests.waiting import wait_until
from tservice.cases.case_operations import PROBE_SECONDS as CASE_SECONDS
from tservice.core.workers.reachability import PROBE_SECONDS
from tservice.core.workers.worker_pool import FILES

pytestmark = pytest.mark.extended

PASSWORD = "a long password"
SHARE = FILES.share or 0


class DeadMountCase(SynchronousTestCase):
    headers: Mapping[str, str] = {}

    def setUp(self) -> None:
        why = dead_mount_obstacle()
        if why is not None:
            report_figure(f"dead mount: not shown, {why}")
            raise SkipTest(why)
        self.daemon = DaemonHarness()
        self.addCleanup(self.daemon.close)
        self.mount = DeadMount(self.daemon.folder / "dead")
        self.addCleanup(self.mount.close)

    def metric(self, name: str, door: str = "files", among: str | None = None) -> float:
        text = among or self.figures()
        found = re.search(rf'(?m)^tservice_door_{name}{{door="{door}"}} (\S+)$', text)
        assert found is not None, text
        return float(found[1])

    def ask(self, folder: str) -> DaemonAnswer:
        body = {"mode": "shell", "workingDir": folder}
        return self.daemon.request("POST", "/api/sessions", body, self.headers)

    def ask_all(self, folders: list[str]) -> list[DaemonAnswer]:
        """All at once."""
        answers: list[DaemonAnswer] = []

        def ask(folder: str) -> None:
            answers.append(self.ask(folder))

        asking = [threading.Thread(target=ask, args=(folder,)) for folder in folders]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join(PATIENCE)
        return answers

    def served_beside(self, asking: threading.Thread) -> float:
        """Look at the figures while C{asking} waits for the mount; seconds of the slowest look.

        Those count that tell of a thread which hung there for less time than its asker is given:
        they were answered before the asker was told, whenever this process came to read them.
        """
        slowest, served = 0.0, 0
        while asking.is_alive():
            begun = time.monotonic()
            figures = self.figures()
            slowest = max(slowest, time.monotonic() - begun)
            hangs = self.metric("threads", among=figures) > 0
            served += hangs and self.metric("oldest_seconds", among=figures) < PROBE_SECONDS
            asking.join(0.05)
        self.assertGreater(served, 0)
        return slowest

    def until_threads(self, *counts: float | None) -> None:
        """Wait until so many are stuck and so many there are; others come and go by themselves.

        @param counts: C{stuck} and C{threads}, or C{threads} alone.
        """
        names = ("stuck", "threads")[-len(counts) :]
        wait_until(
            "the threads", lambda: tuple(map(self.metric, names)) == counts, told=self.figures
        )

    def figures(self) -> str:
        return self.daemon.request("GET", "/metrics", None, self.headers).body.decode()

    def silent(self, answer: DaemonAnswer) -> None:
        self.assertEqual(422, answer.status, answer.body)
        self.assertIn("does not answer", answer.json()["error"])


class WorkingDirTests(DeadMountCase):
    def test_request_on_a_dead_mount_fails_and_delays_no_other(self) -> None:
        self.daemon.start()
        before = new_session(self.daemon)
        answers: list[DaemonAnswer] = []
        asking = threading.Thread(target=lambda: answers.append(self.ask(str(self.mount.path))))
        asking.start()
        slowest = self.served_beside(asking)
        self.silent(answers[0])
        report_figure(f"dead mount: /metrics took {slowest * 1000:.0f} ms at most meanwhile")
        # A second time it is known, and costs no second thread.
        self.silent(self.ask(str(self.mount.path)))
        self.until_threads(1, 1)
        self.assertGreaterEqual(self.metric("oldest_seconds"), PROBE_SECONDS)
        rows = self.daemon.request("GET", "/api/doctor?category=core").data()["tools"]
        told = {row["id"]: row for row in rows}["door-files"]
        self.assertEqual(("error", True), (told["status"], "file system" in told["reason"]))
        # Everything else goes on, also the making of sessions.
        new_session(self.daemon)
        run_line(self.daemon, before, "echo on-$((40 + 2))")
        wait_output(self.daemon, before, "on-42", "buffer")

    def test_dead_mount_occupies_a_bounded_number_of_threads(self) -> None:
        self.daemon.start()
        most = SHARE + FILES.hanging
        answers = self.ask_all([f"{self.mount.path}/{number}" for number in range(most + 4)])
        self.assertEqual({422, 429}, {answer.status for answer in answers})
        self.until_threads(most)
        for door in ("hashing", "names"):
            self.assertEqual(0, self.metric("threads", door))

    def test_sessions_start_again_once_the_mount_is_gone(self) -> None:
        self.daemon.start()
        self.silent(self.ask(str(self.mount.path)))
        self.mount.close()
        self.until_threads(0)
        body = {"mode": "shell", "start": True, "workingDir": str(self.mount.path)}
        self.daemon.request("POST", "/api/sessions", body).data()

    def test_stop_does_not_wait_for_hanging_file_access(self) -> None:
        self.daemon.start()
        self.silent(self.ask(str(self.mount.path)))
        self.assertEqual(-signal.SIGTERM, self.daemon.stop())


@pytest.mark.long
class FreezingTests(DeadMountCase):
    """A mount that dies between the question whether it answers and what that was asked for."""

    def setUp(self) -> None:
        super().setUp()
        self.freezing = FrozenMount(self.daemon.folder / "freezing")
        self.addCleanup(lambda: self.freezing.close())
        self.daemon.start()

    def test_choosing_a_folder_survives_a_dead_mount(self) -> None:
        """Of a session, and of a job that is only shown."""
        folder = str(self.freezing.path)
        job = {
            "name": "j", "agentType": "shell", "workingDir": folder, "promptMode": "inline_text",
            "promptText": "x", "inputMode": "paste", "scheduleType": "interval",
            "intervalMinutes": 10, "enabled": False,
            "concurrencyPolicy": "skip_if_same_agent_running",
        }  # fmt: skip
        for path, body in (
            ("/api/sessions", {"mode": "shell", "workingDir": folder}),
            ("/api/cron/preview", job),
        ):
            before = self.freezing.asked
            self.daemon.request("POST", path, body).data()
            all_of_it = self.freezing.asked - before
            self.assertGreater(all_of_it, 1)
            self.frozen_after(all_of_it - 1, path, body)

    def frozen_after(self, asked: int, path: str, body: object) -> None:
        self.freezing.freeze(asked)
        answers: list[DaemonAnswer] = []
        asking = threading.Thread(
            target=lambda: answers.append(self.daemon.request("POST", path, body))
        )
        asking.start()
        self.assertTrue(self.freezing.frozen.wait(PATIENCE), (path, asked))
        # Everybody else is served while it hangs, and the figures tell of it.
        self.assertEqual(200, self.daemon.request("GET", "/healthz").status)
        self.assertGreaterEqual(self.metric("threads"), 1)
        asking.join(PATIENCE)
        self.silent(answers[0])
        self.assertEqual(1, self.metric("stuck"))
        self.freezing.thaw()
        self.until_threads(0)


class DeadMountCaseTests(DeadMountCase):
    def test_cases_on_a_dead_mount_are_refused_and_hide_no_others(self) -> None:
        """Making one is refused in time; one that was linked before hides no other."""
        self.daemon.start()
        well = self.daemon.folder / "well"
        well.mkdir()
        self.mount.close()
        for name, path in (("well", well), ("ill", self.mount.path)):
            body = {"name": name, "path": str(path)}
            self.daemon.request("POST", "/api/cases/link", body).data()
        self.mount = DeadMount(self.daemon.folder / "dead")
        self.addCleanup(self.mount.close)
        begun = time.monotonic()
        body = {"name": "new", "path": f"{self.mount.path}/new"}
        self.silent(self.daemon.request("POST", "/api/cases", body))
        self.assertGreaterEqual(time.monotonic() - begun, CASE_SECONDS)
        found = {case["name"]: case for case in self.daemon.request("GET", "/api/cases").data()}
        self.assertEqual({"well", "ill"}, set(found))
        self.assertEqual(
            (True, False), ("unreachable" in found["ill"], "unreachable" in found["well"])
        )
        for _ in range(3):
            beside = f"/api/cases/browse?path={self.daemon.folder}"
            folders = self.daemon.request("GET", beside).data()["folders"]
            self.assertIn("dead", [folder["name"] for folder in folders])
        # One asked whether it answers, one looked at what is beside it.
        self.until_threads(2)
        begun = time.monotonic()
        self.daemon.request("POST", "/api/cases", {"name": "local"}).data()
        report_figure(
            f"dead mount: a case was made in {(time.monotonic() - begun) * 1000:.0f} ms beside it"
        )


class DeadMountPathTests(DeadMountCase):
    def test_dead_folder_on_path_does_not_freeze_the_service(self) -> None:
        path = f"{self.mount.path}:/usr/local/bin:/usr/bin:/bin"
        self.daemon.environment["PATH"] = path
        self.mount.close()
        self.daemon.start()
        self.mount = DeadMount(self.daemon.folder / "dead")
        self.addCleanup(self.mount.close)
        self.silent(self.ask(str(self.daemon.home)))
        self.assertEqual(200, self.daemon.request("GET", "/healthz").status)

    def test_daemon_starts_with_a_dead_folder_on_path(self) -> None:
        self.daemon.environment["PATH"] = f"{self.mount.path}:/usr/local/bin:/usr/bin:/bin"
        self.daemon.start()
        self.assertIn(f"PATH: {self.mount.path} does not answer", self.daemon.log)
        new_session(self.daemon)

    def test_programs_on_path_are_looked_up_in_threads(self) -> None:
        """The tunnel's, with a folder on PATH that died after the start."""
        path = f"{self.mount.path}:/usr/local/bin:/usr/bin:/bin"
        self.daemon.environment.update(PATH=path, SERVICE_PASSWORD=PASSWORD)
        self.mount.close()
        self.daemon.start()
        self.mount = DeadMount(self.daemon.folder / "dead")
        self.addCleanup(self.mount.close)
        word = base64.b64encode(f"admin:{PASSWORD}".encode()).decode()
        self.headers = {"Authorization": f"Basic {word}"}
        answers: list[DaemonAnswer] = []

        def start() -> None:
            answers.append(self.daemon.request("POST", "/api/tunnel/start", {}, self.headers))

        asking = threading.Thread(target=start)
        asking.start()
        self.served_beside(asking)
        self.assertEqual(422, answers[0].status, answers[0].body)


class DeadMountSignInTests(DeadMountCase):
    def test_signing_in_works_while_all_file_threads_hang(self) -> None:
        self.daemon.environment.update(SERVICE_MULTIUSER="1", SERVICE_PASSWORD=PASSWORD)
        word = base64.b64encode(f"admin:{PASSWORD}".encode()).decode()
        self.headers = {"Authorization": f"Basic {word}"}
        self.daemon.start()
        answers = self.ask_all([f"{self.mount.path}/{number}" for number in range(8)])
        self.assertNotIn(200, {answer.status for answer in answers})
        body = {"username": "admin", "password": PASSWORD}
        self.assertEqual(200, self.daemon.request("POST", "/api/login", body).status)
        self.until_threads(len(answers))  # they hang still


class SameUserTests(DeadMountCase):
    """A storm at a mount that died under sessions, and the same user's work elsewhere meanwhile."""

    def test_only_user_can_work_elsewhere_during_a_dead_mount(self) -> None:
        self.daemon.start()
        self.works_elsewhere()

    def test_account_can_work_elsewhere_during_a_dead_mount(self) -> None:
        self.daemon.environment.update(SERVICE_MULTIUSER="1", SERVICE_PASSWORD=PASSWORD)
        self.headers = basic_headers("admin", PASSWORD)
        self.daemon.start()
        self.works_elsewhere()

    def works_elsewhere(self) -> None:
        self.mount.close()
        dead, well = str(self.mount.path), self.daemon.folder / "well"
        make_repository(well, file="content\n")
        body = {"name": "ill", "path": dead}
        self.daemon.request("POST", "/api/cases/link", body, self.headers).data()
        there, here = self.session(dead), self.session(str(well))
        self.mount = DeadMount(self.daemon.folder / "dead")
        self.addCleanup(self.mount.close)
        asked = [f"{there}/{what}" for what in ("files", "file-content?path=a", "git-status")] * 6
        answers: list[DaemonAnswer] = []

        def ask(path: str) -> None:
            answers.append(self.get(path))

        looks = [threading.Thread(target=ask, args=(path,), daemon=True) for path in asked]
        starts = [
            threading.Thread(target=lambda: answers.append(self.ask(dead)), daemon=True)
            for _ in range(6)
        ]
        begun = time.monotonic()
        for thread in (*looks, *starts):
            thread.start()
        self.until_threads(SHARE)
        for when in ("before it is known to hang", "afterwards"):
            now = time.monotonic()
            self.session(str(well))
            for what in ("files", "file-content?path=file", "git-status?fresh=1"):
                answer = self.get(f"{here}/{what}")
                self.assertEqual(200, answer.status, answer.body)
            report_figure(f"dead mount: work elsewhere {when} took {time.monotonic() - now:.2f} s")
            cases = self.daemon.request("GET", "/api/cases", None, self.headers).data()
            self.assertEqual(["ill"], [case["name"] for case in cases if case.get("unreachable")])
            wait_until("the refusals", lambda: len(answers) >= len(asked) + len(starts))
        # Only those who hang wait longer.
        report_figure(f"dead mount: refusals came within {time.monotonic() - begun:.2f} s")
        self.assertEqual({422}, {answer.status for answer in answers})
        self.assertLessEqual(self.metric("stuck"), SHARE + FILES.hanging)
        self.mount.close()
        for thread in looks:
            thread.join(PATIENCE)

    def session(self, folder: str) -> str:
        return str(self.ask(folder).data()["session"]["id"])

    def get(self, path: str) -> DaemonAnswer:
        return self.daemon.request("GET", f"/api/sessions/{path}", None, self.headers)


class AccountsTests(DeadMountCase):
    def test_account_with_many_dead_folders_leaves_threads_for_others(self) -> None:
        """They died after sessions had begun in them."""
        self.daemon.environment.update(SERVICE_MULTIUSER="1", SERVICE_PASSWORD=PASSWORD)
        self.headers = basic_headers("admin", PASSWORD)
        self.daemon.start()
        for name in ("ann", "bob"):
            user = {"username": name, "password": PASSWORD, "canBypassPermissions": True}
            self.daemon.request("POST", "/api/admin/users", user, self.headers).data()
        folders = [self.daemon.cases_of("ann") / str(n) for n in range(FILES.threads)]
        asked = [f"{self.session('ann', folder)}/files" for folder in folders]
        asked += [f"{each.removesuffix('files')}git-status" for each in asked]
        whole = self.session("bob", self.daemon.cases_of("bob"))
        mounts = [DeadMount(folder) for folder in folders]
        for mount in mounts:
            self.addCleanup(mount.close)
        asking = [
            threading.Thread(target=self.look, args=("ann", each), daemon=True) for each in asked
        ]
        for thread in asking:
            thread.start()
        # Until those that hang have substitutes, work of others waits for a second at most.
        wait_until("their coming", lambda: self.metric("threads") >= SHARE)
        for what in ("files", "git-status"):
            self.assertEqual(200, self.look("bob", f"{whole}/{what}").status)
        for mount in mounts:
            mount.close()
        for thread in asking:
            thread.join(PATIENCE)

    def test_dead_mounts_below_account_folders_leave_threads_for_others(self) -> None:
        """No path tells of them."""
        self.daemon.environment.update(SERVICE_MULTIUSER="1", SERVICE_PASSWORD=PASSWORD)
        self.headers = basic_headers("admin", PASSWORD)
        self.daemon.start()
        share, asking, mounts = FILES.share or 0, list[threading.Thread](), list[DeadMount]()
        for name in ("ann", "ben", "cid", "dan"):
            user = {"username": name, "password": PASSWORD, "canBypassPermissions": True}
            self.daemon.request("POST", "/api/admin/users", user, self.headers).data()
            folder = self.daemon.cases_of(name)
            session = self.session(name, folder)
            if name == "dan":
                break
            mounts.append(DeadMount(folder / "sub"))
            self.addCleanup(mounts[-1].close)
            path = f"{session}/file-content?path=sub/x"
            asking += [
                threading.Thread(target=self.look, args=(name, path), daemon=True)
                for _ in range(share)
            ]
        for thread in asking:
            thread.start()
        # More than the door has: those that are slow have substitutes.
        self.until_threads(3 * share)
        for what in ("files", "git-status"):
            self.assertEqual(200, self.look("dan", f"{session}/{what}").status)
        for mount in mounts:
            mount.close()
        for thread in asking:
            thread.join(PATIENCE)

    def session(self, name: str, folder: Path) -> str:
        folder.mkdir(parents=True, exist_ok=True)
        body = {"mode": "shell", "workingDir": str(folder), "start": False}
        made = self.daemon.request(
            "POST", "/api/sessions", body, basic_headers(name, PASSWORD)
        ).data()
        return str(made["session"]["id"])

    def look(self, name: str, path: str) -> DaemonAnswer:
        return self.daemon.request(
            "GET", f"/api/sessions/{path}", None, basic_headers(name, PASSWORD)
        )
