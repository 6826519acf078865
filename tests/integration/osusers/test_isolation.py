"""Two OS users: neither gets at what is the other's, tried with real processes of both.

Every attempt is also made by the user whose it is, and succeeds then: what fails for the other
one fails for want of rights, not because the attempt is no good.
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
from functools import partial
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.integration.osusers.harness import (
    ADMIN,
    MultiuserDaemon,
    OsUserFactory,
    processes_of,
    run_as,
    wait_until,
)
from tests.non_empty import require_items
from tservice.core.users.os_users import OsUser

MARK = "only-for-ben"
KEYCTL, JOIN_SESSION_KEYRING = {"x86_64": 250}.get(platform.machine(), 219), 1


class OsUserIsolationTests(SynchronousTestCase):
    """C{ann} tries to reach what is C{ben}'s."""

    def setUp(self) -> None:
        self.people = OsUserFactory()
        self.addCleanup(self.people.close)
        self.ann, self.ben = self.people.make(), self.people.make()
        # As after a login of root's: what is started from here inherits it.
        ctypes.CDLL(None).syscall(KEYCTL, JOIN_SESSION_KEYRING, None)
        self.service = MultiuserDaemon(ANTHROPIC_API_KEY="key-of-root")
        self.addCleanup(self.service.close)
        self.service.account("ann", self.ann.name)
        self.service.account("ben", self.ben.name)
        self.session = self.service.shell("ben", envOverrides={"MARK": MARK})
        self.service.type("ben", self.session, f"umask 022; echo {MARK} >note; echo writ''ten")
        self.service.shows("ben", self.session, "written")

    def only_ben(self, *argv: str, shows: str = "") -> None:
        """C{argv} does for ben, and shows that, and fails for ann without showing it."""
        self.assert_does(self.ben, argv, shows)
        found = run_as(self.ann, *argv)
        self.assertNotEqual(0, found.returncode, (argv, found))
        self.assertNotIn(shows or MARK, found.stdout + found.stderr)

    def assert_does(self, user: OsUser, argv: tuple[str, ...], shows: str) -> None:
        found = run_as(user, *argv)
        self.assertEqual(0, found.returncode, (argv, found))
        self.assertIn(shows, found.stdout)

    def socket(self) -> str:
        return str(self.service.shared / str(self.ben.uid) / f"{self.session}.sock")

    def test_home_of_another_user_is_closed(self) -> None:
        self.only_ben("cat", str(self.ben.home / "note"), shows=MARK)
        self.only_ben("ls", str(self.ben.home), shows="note")
        self.only_ben("touch", str(self.ben.home / "new"))

    def test_environment_of_processes_of_another_user_is_closed(self) -> None:
        """Of the program, the keeper, the tmux server and its client alike."""
        pid = self.service.pid("ben", self.session)
        self.only_ben("grep", "-a", "-o", MARK, f"/proc/{pid}/environ", shows=MARK)
        for each in self.processes_of_ben():
            self.only_ben("cat", f"/proc/{each}/environ")
            self.only_ben("ls", f"/proc/{each}/fd")

    def test_tmux_socket_of_another_user_is_closed(self) -> None:
        words = ("tmux", "-S", self.socket(), "-N")
        self.only_ben(*words, "capture-pane", "-p", shows="written")
        self.only_ben(*words, "show-environment", "-g", "TSERVICE_PANE_ENV_MARK", shows=MARK)
        self.only_ben(*words, "send-keys", "x")
        self.only_ben("ls", str(Path(self.socket()).parent), shows=".sock")

    def test_hook_secret_of_another_user_is_closed(self) -> None:
        secret = self.service.secret(self.ben)
        path = str(self.service.shared / f"{self.ben.uid}.hook-secret")
        self.only_ben("cat", path, shows=secret)
        self.assertEqual(0o400, os.stat(path).st_mode & 0o777)

    def processes_of_ben(self) -> list[int]:
        """Return the program, the keeper, the tmux server and its client, at least."""
        found = processes_of(self.ben.uid)
        self.assertGreaterEqual(len(found), 4)
        return found

    def test_processes_of_another_user_cannot_be_signalled(self) -> None:
        for pid in self.processes_of_ben():
            self.only_ben("kill", "-0", str(pid))

    def test_files_of_the_service_are_closed_to_os_users(self) -> None:
        """Its data, its own secret, and what it left for the users."""
        self.service.shell("ann")
        data, shared = self.service.daemon.data, self.service.shared
        self.assertTrue((data / "hook-secret").exists())
        for user in (self.ann, self.ben):
            for words in (
                ("ls", str(data)),
                ("cat", str(data / "hook-secret")),
                ("cat", str(data / "tservice.db")),
                ("cat", f"/proc/{self.service.daemon.pid}/environ"),
                ("kill", "-0", str(self.service.daemon.pid)),
                ("ls", str(shared)),
                ("touch", str(shared / "new")),
                ("mv", str(shared / str(user.uid)), str(shared / "gone")),
                ("rm", "-f", str(shared / f"{user.uid}.hook-secret")),
                ("cp", "/dev/null", str(shared / "keeper.py")),
            ):
                self.assertNotEqual(0, run_as(user, *words).returncode, words)

    def test_pane_of_another_user_is_not_found_through_the_service(self) -> None:
        """By the service, too."""
        for method, path in (
            ("GET", ""),
            ("GET", "/terminal"),
            ("GET", "/git-status"),
            ("DELETE", ""),
        ):
            found = self.service.ask("ann", method, f"/api/sessions/{self.session}{path}")
            self.assertEqual(404, found.status, path)

    def test_hook_secret_works_only_for_sessions_of_its_own_user(self) -> None:
        """A secret speaks for the sessions of its own user, the service's for none of them."""
        hers = self.service.shell("ann")
        own, other = self.service.secret(self.ann), self.service.secret(self.ben)
        instance = (self.service.daemon.data / "hook-secret").read_text().strip()
        admins = self.service.shell(ADMIN, workingDir="/")
        for session, secret, status in (
            (self.session, other, 200),
            (hers, own, 200),
            (admins, instance, 200),
            (self.session, own, 404),
            (hers, other, 404),
            (admins, own, 404),
            (self.session, instance, 404),
            (self.session, f"{self.ben.uid}-{own.partition('-')[2]}", 401),
            (self.session, own.partition("-")[2], 401),
        ):
            self.assertEqual(status, self.service.hook(session, secret))

    def test_environment_of_a_pane_has_nothing_of_the_service(self) -> None:
        """Nothing of root's comes into a pane; the user's own account does."""
        self.service.type("ben", self.session, "clear; env; id -u; id -G; echo rea''dy")
        self.service.shows("ben", self.session, "ready")
        screen = self.service.screen("ben", self.session)
        home = self.service.daemon.home
        self.assertNotIn("key-of-root", screen)
        self.assertNotIn(str(home), screen)
        for line in (f"USER={self.ben.name}", f"HOME={self.ben.home}", "SHELL=/bin/sh",
                     str(self.ben.uid), str(self.ben.gid)):  # fmt: skip
            self.assertIn(line, screen.replace("\r", "").split("\n"))

    def test_root_starts_no_process_with_the_environment_of_a_user(self) -> None:
        """What the loader does on a variable's word, it does as the user alone."""
        trace = {"LD_DEBUG": "statistics", "LD_DEBUG_OUTPUT": str(self.ann.home / "trace")}
        session = self.service.shell("ann", envOverrides=trace)
        self.service.type("ann", session, "echo do''ne")
        self.service.shows("ann", session, "done")
        owners = {path.name: path.stat().st_uid for path in self.ann.home.glob("trace.*")}
        self.assertIn(f"trace.{self.service.pid('ann', session)}", owners)
        self.assertEqual({self.ann.uid}, set(owners.values()))

    def test_pane_has_no_keyring_of_another_user(self) -> None:
        """Each pane has a session keyring of its own, neither root's nor another user's."""
        hers = self.service.shell("ann")
        found = set()
        for name, session in (("ann", hers), ("ben", self.session)):
            script = f"import ctypes; print('ring', ctypes.CDLL(None).syscall({KEYCTL}, 0, -3, 0))"
            self.service.type(name, session, f'clear; /usr/bin/python3 -c "{script}"')
            wait_until(partial(self._ring, name, session), "the keyring")
            found.add(self._ring(name, session))
        found.add(str(ctypes.CDLL(None).syscall(KEYCTL, 0, -3, 0)))
        self.assertEqual(3, len(found), found)

    def _ring(self, name: str, session: str) -> str | None:
        match = re.search(r"^ring (-?[0-9]+)", self.service.screen(name, session), re.MULTILINE)
        return None if match is None else match[1]

    def test_processes_of_a_pane_have_no_rights_of_root(self) -> None:
        """Every process of the pane: no capability, no group, no terminal of root's."""
        for pid in require_items(self.processes_of_ben()):
            text = Path(f"/proc/{pid}/status").read_text()
            lines = dict(line.split(":", 1) for line in text.splitlines())
            self.assertEqual([str(self.ben.uid)] * 4, lines["Uid"].split())
            self.assertEqual([str(self.ben.gid)] * 4, lines["Gid"].split())
            self.assertEqual([str(self.ben.gid)], lines["Groups"].split())
            for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
                self.assertEqual(0, int(lines[name], 16), name)
            self.assertNotEqual(os.getsid(self.service.daemon.pid), os.getsid(pid))

    def test_killed_service_leaves_no_control_client(self) -> None:
        """The control client ends with a service that was killed; the pane goes on."""
        pid = self.service.pid("ben", self.session)
        before = set(processes_of(self.ben.uid))
        self.service.daemon.kill()
        wait_until(
            lambda: len(set(processes_of(self.ben.uid)) & before) == len(before) - 1, "its end"
        )
        self.service.daemon.start()
        wait_until(lambda: self.service.pid("ben", self.session) == pid, "the same process")
        self.service.type("ben", self.session, "echo st''ill here")
        self.service.shows("ben", self.session, "still here")
        self.service.good("ben", "DELETE", f"/api/sessions/{self.session}")
        wait_until(lambda: not processes_of(self.ben.uid), "the end of all")
