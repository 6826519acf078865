"""Tests for L{tservice.core.users.os_users} and L{tservice.core.users.file_identity}."""

from __future__ import annotations

import os
from pathlib import Path

from attrs import evolve
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.os_user_harness import OsUserWorld
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.users.file_identity import IdentityChangeError, call_as_user
from tservice.core.users.os_users import (
    NO_ROOT,
    OsUserId,
    OsUsers,
    build_user_environment,
    can_enter_folder,
    can_run_program,
    find_process_owner,
)


class OsUserJudgementTests(SynchronousTestCase):
    """As whom panes may run."""

    def setUp(self) -> None:
        self.world = OsUserWorld(Path(self.mktemp()).absolute())
        self.users = self.world.users

    def refusal(self, name: str) -> str:
        error: ServiceError = self.assertRaises(ServiceError, self.users.get_usable_user, name)
        self.assertIs(ErrorCode.OPERATION_FAILED, error.code)
        return error.message

    def test_suitable_os_user_is_accepted(self) -> None:
        made = self.world.add("ann", 1001)
        self.assertEqual(made, self.users.get_usable_user("ann"))
        self.assertEqual((1001, 4000), made.groups)
        self.assertEqual(["ann"], self.world.acted)

    def test_unsuitable_os_users_are_refused(self) -> None:
        self.world.add("toor", 0)
        self.world.add("locked", 1002, "/usr/sbin/nologin")
        self.world.add("false", 1003, "/bin/false")
        self.world.add("lost", 1004).home.rmdir()
        for name, why in (
            ("nobody-there", "osUser: there is no OS user 'nobody-there'"),
            ("toor", "osUser: toor is root, which cannot be isolated"),
            ("locked", "osUser: locked may not log in: its shell is /usr/sbin/nologin"),
            ("false", "osUser: false may not log in: its shell is /bin/false"),
            ("lost", "osUser: the home folder of lost is missing or not accessible"),
        ):
            self.assertEqual(why, self.refusal(name))

    def test_service_without_root_refuses_os_users(self) -> None:
        self.users = OsUsers(NO_ROOT)
        self.assertIn("osUser: panes can only run as the service's own user", self.refusal("ann"))
        user = self.world.add("ann", 1001)
        self.assertRaises(OSError, self.users.act_as_user, user, list)
        self.assertEqual([], self.users.act_as_user(None, list))

    def test_missing_shell_is_sh(self) -> None:
        self.assertEqual("/bin/sh", self.world.add("ann", 1001, "").shell)

    def test_os_user_with_another_uid_is_recalled_without_rights(self) -> None:
        """Neither started as, nor taken for, who has the name now; what runs is still reached."""
        known = self.world.add("ann", 1001).id
        self.world.add("ann", 1002)
        error = self.assertRaises(ServiceError, self.users.get_usable_known_user, known)
        self.assertIn("ann now belongs to another OS user", error.message)
        recalled = self.users.get_known_user(known)
        self.assertEqual((1001, (65534,)), (recalled.uid, recalled.groups))
        self.assertEqual(Path("/nonexistent"), recalled.home)

    def test_os_user_is_recalled(self) -> None:
        made = self.world.add("ann", 1001)
        self.assertEqual(made, self.users.get_known_user(made.id))
        self.assertEqual(made, self.users.get_usable_known_user(made.id))
        self.world.remove("ann")
        gone = self.users.get_known_user(made.id)
        self.assertEqual(OsUserId(name="ann", uid=1001), gone.id)


class OsUserEnvironmentTests(SynchronousTestCase):
    """What a child of an OS user gets."""

    def test_environment_contains_nothing_of_root(self) -> None:
        user = OsUserWorld(Path(self.mktemp()).absolute()).add("ann", 1001)
        environ = {
            "PATH": "/srv/daemon/bin:/usr/bin:bin:/srv/daemonic:/srv/daemon",
            "HOME": "/srv/daemon",
            "USER": "root",
            "LANG": "de_DE.UTF-8",
            "LC_TIME": "C",
            "XDG_CONFIG_HOME": "/srv/daemon/c",
            "SSH_AUTH_SOCK": "/srv/daemon/agent",
            "ANTHROPIC_API_KEY": "k",
            "CLAUDE_CONFIG_DIR": "/srv/daemon/claude",
            "HTTPS_PROXY": "http://p",
        }
        self.assertEqual(
            {
                "PATH": "/usr/bin:/srv/daemonic",
                "HOME": str(user.home),
                "USER": "ann",
                "LOGNAME": "ann",
                "SHELL": "/bin/bash",
                "LANG": "de_DE.UTF-8",
                "LC_TIME": "C",
                "HTTPS_PROXY": "http://p",
            },
            build_user_environment(user, environ, ("HTTPS_PROXY", "USER")),
        )


class OsUserSystemQueryTests(SynchronousTestCase):
    """What is asked of the system."""

    def test_enterable_folders_are_recognized(self) -> None:
        folder = Path(self.mktemp()).absolute()
        folder.mkdir()
        (folder / "file").touch()
        self.assertTrue(can_enter_folder(str(folder)))
        for other in (folder / "file", folder / "none", "a\0b"):
            self.assertFalse(can_enter_folder(str(other)))

    def test_executable_programs_are_recognized(self) -> None:
        folder = Path(self.mktemp()).absolute()
        folder.mkdir()
        tool = folder / "tool"
        tool.touch(0o644)
        self.assertFalse(can_run_program(tool))
        tool.chmod(0o755)
        self.assertTrue(can_run_program(tool))
        self.assertFalse(can_run_program(folder))
        os.mkfifo(folder / "pipe", 0o755)
        self.assertFalse(can_run_program(folder / "pipe"))
        self.assertFalse(can_run_program(folder / "none"))

    def test_owner_of_a_process_is_read(self) -> None:
        self.assertEqual(os.getuid(), find_process_owner(os.getpid()))
        self.assertIsNone(find_process_owner(2**22 + 1))


class ActingTests(SynchronousTestCase):
    """What needs no root; the rest is tests/integration/osusers."""

    def test_acting_as_oneself_calls_directly(self) -> None:
        self.assertEqual(3, call_as_user(None, lambda: 3))

    def test_acting_without_root_is_refused(self) -> None:
        user = OsUserWorld(Path(self.mktemp()).absolute()).add("ann", 1001)
        self.patch(os, "geteuid", lambda: 1000)
        done: list[int] = []
        error = self.assertRaises(
            IdentityChangeError, call_as_user, evolve(user), lambda: done.append(1)
        )
        self.assertIn("cannot work on files as ann", str(error))
        self.assertEqual([], done)
