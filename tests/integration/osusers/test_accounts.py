"""Accounts that name an OS user: who may be named, and what a change of it does."""

from __future__ import annotations

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.integration.osusers.harness import (
    ADMIN,
    MultiuserDaemon,
    OsUserFactory,
    end_processes,
    processes_of,
    wait_until,
)

USERS = "/api/admin/users"


class OsUserAccountTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.people = OsUserFactory()
        self.addCleanup(self.people.close)
        self.ann = self.people.make()
        self.service = MultiuserDaemon()
        self.addCleanup(self.service.close)

    def refused(self, name: str, method: str, path: str, body: Any = None) -> str:
        """The text of a 422."""
        found = self.service.ask(name, method, path, body)
        self.assertEqual((422, "OPERATION_FAILED"), (found.status, found.json()["errorCode"]))
        return str(found.json()["error"])

    def test_only_os_users_with_login_and_home_are_accepted(self) -> None:
        """Neither root, nor nobody, nor who may not log in, nor one without a home."""
        locked, homeless = self.people.make("/usr/sbin/nologin"), self.people.make()
        homeless.home.rmdir()
        for name, why in (
            ("root", "osUser: root is root, which cannot be isolated"),
            ("no-such-user", "osUser: there is no OS user 'no-such-user'"),
            ("a\0b", "osUser: there is no OS user"),
            (locked.name, f"osUser: {locked.name} may not log in: its shell is /usr/sbin/nologin"),
            (homeless.name, f"osUser: the home folder of {homeless.name} is missing"),
        ):
            body = {"username": "cleo", "osUser": name}
            self.assertIn(why, self.refused(ADMIN, "POST", USERS, body))
            self.assertIn(why, self.refused(ADMIN, "PATCH", f"{USERS}/{ADMIN}", {"osUser": name}))
        names = [user["username"] for user in self.service.good(ADMIN, "GET", USERS)["users"]]
        self.assertEqual([ADMIN], names)

    def test_only_admins_set_the_os_user(self) -> None:
        made = self.service.account("ann", self.ann.name)
        self.assertEqual(self.ann.name, made["osUser"])
        for method, path in (("PATCH", f"{USERS}/ann"), ("POST", USERS)):
            body = {"osUser": "", "username": "x"} if method == "POST" else {"osUser": ""}
            self.assertEqual(403, self.service.ask("ann", method, path, body).status)

    def test_change_of_account_user_moves_no_running_session(self) -> None:
        """What runs goes on as who it is, driven by admins alone; what does not is not started as
        somebody else.
        """
        self.service.account("ann", self.ann.name)
        living, resting = self.service.shell("ann"), self.service.shell("ann", start=None)
        pid = self.service.pid("ann", living)
        changed = self.service.good(ADMIN, "PATCH", f"{USERS}/ann", {"osUser": ""})
        self.assertIsNone(changed["user"].get("osUser"))
        self.service.daemon.restart()
        self.assertEqual(pid, self.service.pid("ann", living))
        self.assertIn(pid, processes_of(self.ann.uid))
        typing = ("ann", "POST", f"/api/sessions/{living}/input", {"input": "echo ba''d\r"})
        self.assertIn("osUser: the account's OS user changed", self.refused(*typing))
        self.service.type(ADMIN, living, "echo go''od")
        self.service.shows("ann", living, "good")
        self.assertNotIn("bad", self.service.screen("ann", living))
        start = f"/api/sessions/{resting}/interactive"
        self.assertIn("osUser: the account's OS user changed", self.refused("ann", "POST", start))
        self.service.good(ADMIN, "PATCH", f"{USERS}/ann", {"osUser": self.ann.name})
        self.service.type("ann", living, "echo be''tter")
        self.service.shows("ann", living, "better")
        self.service.good("ann", "POST", start)
        self.assertIn(self.service.pid("ann", resting), processes_of(self.ann.uid))

    def test_name_service_is_queried_in_the_worker_pool(self) -> None:
        """First of all by a case's name: while it was silent, so was the service to everybody."""
        self.service.account("ann", self.ann.name)
        job = {"name": "j", "agentType": "shell", "caseName": "api", "promptMode": "inline_text",
               "promptText": "x", "inputMode": "paste", "scheduleType": "interval",
               "intervalMinutes": 60, "enabled": False,
               "concurrencyPolicy": "warn_only"}  # fmt: skip
        for path, body in (
            ("/api/quick-start", {"caseName": "api", "mode": "shell"}),
            ("/api/sessions", {"caseName": "api", "mode": "shell"}),
            ("/api/cron/jobs", job),
            ("/api/cases", {"name": "web"}),
        ):
            self.service.daemon.restart()
            self.service.good("ann", "POST", path, body)
            self.assertNotIn("in the reactor's thread", self.service.daemon.log, path)
            for session in self.service.good("ann", "GET", "/api/sessions"):
                self.service.good("ann", "DELETE", f"/api/sessions/{session['id']}")

    def test_sessions_of_the_service_user_are_not_handed_over(self) -> None:
        """One that was root's is not started for an account that has become an OS user's."""
        self.service.account("ann", "")
        before = self.service.shell("ann", start=None)
        self.service.good(ADMIN, "PATCH", f"{USERS}/ann", {"osUser": self.ann.name})
        for method, path in (("POST", "interactive"), ("GET", "files"), ("GET", "git-status"),
                             ("GET", "file-raw?path=.profile")):  # fmt: skip
            found = self.refused("ann", method, f"/api/sessions/{before}/{path}")
            self.assertIn("osUser: the account's OS user changed", found, path)
        self.assertEqual([], processes_of(self.ann.uid))

    def test_removed_os_user_starts_nothing_and_its_sessions_can_be_deleted(self) -> None:
        """Nothing is started; what is left can be taken up and removed."""
        self.service.account("ann", self.ann.name)
        living, resting = self.service.shell("ann"), self.service.shell("ann", start=None)
        pid = self.service.pid("ann", living)
        self.people.remove(self.ann)
        self.assertIn("there is no OS user", self.refused(
            "ann", "POST", f"/api/sessions/{resting}/interactive"
        ))  # fmt: skip
        self.assertIn("there is no OS user", self.refused(
            "ann", "POST", "/api/sessions", {"mode": "shell"}
        ))  # fmt: skip
        self.service.daemon.restart()
        self.assertEqual(pid, self.service.pid("ann", living))
        for session in (living, resting):
            self.service.good("ann", "DELETE", f"/api/sessions/{session}")
        wait_until(lambda: not processes_of(self.ann.uid), "the end of all")

    def test_killed_tmux_server_ends_only_the_sessions_of_its_user(self) -> None:
        """All processes of the user end: the sessions are over, and start anew."""
        self.service.account("ann", self.ann.name)
        session = self.service.shell("ann")
        end_processes(self.ann.uid)

        def over() -> bool:
            return self.service.good("ann", "GET", f"/api/sessions/{session}").get("pid") is None

        wait_until(over, "the end of the session")
        self.service.good("ann", "POST", f"/api/sessions/{session}/interactive")
        self.assertIn(self.service.pid("ann", session), processes_of(self.ann.uid))
