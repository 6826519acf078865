"""Sessions of accounts that name an OS user: who runs what, and what is refused."""

from __future__ import annotations

from pathlib import Path

from attrs import evolve

from tests.callers import GRANTED, make_caller
from tests.unit.sessions.harness import ADMIN, SessionCase
from tservice.cases.interfaces import AgentMarker
from tservice.core.callers.caller import Caller
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.locations.location import OWN_LOCATION
from tservice.core.users.os_users import OsUserId
from tservice.sessions.life.priority import confine_to_location
from tservice.sessions.record.model import ProcessPhase, ProcessPriority
from tservice.sessions.record.requests import CreateRequest, InputRequest


class OsUserCase(SessionCase):
    """C{ann}'s account names the OS user C{a}."""

    def setUp(self) -> None:
        super().setUp()
        self.world = self.machine.os_users
        self.user = self.world.add("a", 1001, str(self.machine.folder / "bin" / "bash"))
        self.ann = self.world.caller("ann", "a")
        self.machine.config = evolve(self.machine.config, multiuser=True)
        self.machine.restart()
        self.successResultOf(self.machine.opening)


class OsUserStartTests(OsUserCase):
    def test_shell_runs_as_the_os_user(self) -> None:
        session = self.create(self.ann, start=True)
        spec = self.pane(session).spec
        self.assertEqual(self.user, spec.place.user)
        self.assertEqual(OsUserId(name="a", uid=1001), session.os_user)
        self.assertEqual(str(self.user.home), spec.cwd)
        self.assertEqual(self.user.shell, spec.argv[0])
        self.assertEqual({"a"}, set(self.world.secrets))
        found = {name: spec.env[name] for name in ("HOME", "USER", "SERVICE_HOOK_SECRET_FILE")}
        self.assertEqual(
            {
                "HOME": str(self.user.home),
                "USER": "a",
                "SERVICE_HOOK_SECRET_FILE": str(self.world.path_of(self.user)),
            },
            found,
        )

    def test_session_of_another_account_is_unaffected(self) -> None:
        session = self.create(ADMIN, start=True)
        self.assertEqual(OWN_LOCATION, self.pane(session).spec.place.id)
        self.assertIsNone(session.os_user)
        self.assertEqual(([], []), (self.world.secrets, self.world.acted))

    def test_pane_of_the_os_user_is_adopted_after_a_crash(self) -> None:
        session = self.create(self.ann, start=True)
        self.world.secrets.clear()
        self.machine.restart()
        self.successResultOf(self.machine.opening)
        again = self.sessions.get(session.id)
        self.assertEqual((ProcessPhase.RUNNING, self.user.id), (again.phase, again.os_user))
        self.assertEqual(["a"], self.world.secrets)

    def test_pane_is_adopted_without_a_hook_secret(self) -> None:
        """A hook's secret that cannot be put in place costs hooks, never the session."""
        session = self.create(self.ann, start=True)
        self.world.refuse = PermissionError("full")
        self.machine.restart()
        self.successResultOf(self.machine.opening)
        self.assertIs(ProcessPhase.RUNNING, self.sessions.get(session.id).phase)
        other = self.create(self.ann)
        text = self.assert_refused(
            ErrorCode.OPERATION_FAILED, self.sessions.start(other.id, GRANTED)
        )
        self.assertIn("could not write the hooks' secret", text)

    def test_changed_os_user_keeps_running_and_cannot_start(self) -> None:
        """What runs, runs on; nothing is started as another one."""
        living, resting = self.create(self.ann, start=True), self.create(self.ann)
        own = self.create(ADMIN)
        self.world.add("b", 1002)
        self.world.accounts |= {"ann": "b"}
        self.assertIs(ProcessPhase.RUNNING, self.sessions.get(living.id).phase)
        text = self.assert_refused(
            ErrorCode.OPERATION_FAILED, self.sessions.start(resting.id, GRANTED)
        )
        self.assertIn("osUser: the account's OS user changed", text)
        self.run_now(self.sessions.start(own.id, GRANTED))
        self.run_now(self.sessions.stop(living.id, "done"))
        self.assert_refused(ErrorCode.OPERATION_FAILED, self.sessions.start(living.id, GRANTED))

    def test_only_admins_drive_a_pane_of_the_former_os_user(self) -> None:
        """Only an admin; she reads it, and ends it (protocol-driving)."""
        session = self.create(self.ann, start=True)
        pane = self.pane(session)
        for line, now in (("one", {"ann": "a"}), ("two", {"ann": "b"}), ("three", {"ann": "a"})):
            self.world.accounts.update(now)
            request = InputRequest(text=line, use_mux=False, sender=self.ann)
            typing = self.sessions.send_input(session.id, request)
            if now["ann"] == "a":
                self.assertTrue(self.run_now(typing).delivered)
                continue
            text = self.assert_refused(ErrorCode.OPERATION_FAILED, typing)
            self.assertIn("osUser: the account's OS user changed", text)
            key = self.sessions.send_key(session.id, "Enter", self.ann)
            self.assert_refused(ErrorCode.OPERATION_FAILED, key)
            self.successResultOf(self.type(session, " ", use_mux=False, sender=ADMIN))
            self.run_now(self.sessions.read_screen(session.id, full=False, lines=None, tail=None))
        self.assertEqual((b"one three", []), (bytes(pane.typed), pane.keys))
        self.world.accounts["ann"] = "b"
        self.run_now(self.sessions.delete(session.id))

    def test_os_user_with_another_uid_cannot_start(self) -> None:
        session = self.create(self.ann)
        self.world.add("a", 1002)
        text = self.assert_refused(
            ErrorCode.OPERATION_FAILED, self.sessions.start(session.id, GRANTED)
        )
        self.assertIn("osUser: a now belongs to another OS user", text)

    def test_removed_os_user_cannot_start(self) -> None:
        living = self.create(self.ann, start=True)
        self.world.remove("a")
        text = self.assert_refused(
            ErrorCode.OPERATION_FAILED,
            self.sessions.create(CreateRequest(mode="shell"), self.ann),
        )
        self.assertIn("osUser: there is no OS user 'a'", text)
        self.run_now(self.sessions.delete(living.id))
        self.assertEqual([], self.sessions.list())

    def test_only_processes_of_the_os_user_are_reniced(self) -> None:
        """Only a process that is the user's is reniced: its number is the pane's word."""
        session = self.create(self.ann, start=True)
        live = self.sessions._deps.roster.get(session.id)
        nice = ProcessPriority(enabled=True, value=5)
        change = self.sessions._deps.properties.set_priority
        text = self.assertRaises(ServiceError, change, live, nice).message
        self.assertIn("nice: the system refused", text)
        self.assertEqual([], self.machine.renice.set)

    def test_process_of_the_service_user_is_reniced(self) -> None:
        self.assertIs(self.machine.renice, confine_to_location(self.machine.renice, OWN_LOCATION))


class OsUserWorkspaceTests(OsUserCase):
    def folder(self, path: Path, caller: Caller | None = None) -> str:
        return self.now(self.machine.cases.resolve_folder(str(path), caller or self.ann))

    def test_working_folder_may_be_anywhere_the_os_user_may_enter(self) -> None:
        """The system says where; a caller without an OS user stays in a folder of the service's."""
        place = self.machine.folder / "elsewhere"
        place.mkdir()
        self.assertEqual(str(place), self.folder(place))
        self.assertEqual(["a"], self.world.acted[-1:])
        bob = make_caller(username="bob", admin=False, can_bypass_permissions=True)
        error = self.assertRaises(ServiceError, self.folder, place, bob)
        self.assertIs(ErrorCode.FORBIDDEN, error.code)

    def test_unsuitable_working_folder_is_refused(self) -> None:
        for path in (self.machine.folder / "none", self.machine.folder / "bin" / "bash"):
            error = self.assertRaises(ServiceError, self.folder, path)
            self.assertEqual(
                (
                    ErrorCode.INVALID_INPUT,
                    "workingDir: must be an existing folder that a may enter",
                ),
                (error.code, error.message),
            )

    def test_cases_are_in_the_home_of_the_os_user(self) -> None:
        """In the user's home, each made, found and marked as the user."""
        cases = self.machine.cases
        marker = AgentMarker(created_at=5, created_by="claude")
        place = self.run_now(cases.open_or_create("c", self.ann, marker))
        self.assertEqual(str(self.user.home / "service-cases" / "c"), place.path)
        self.assertEqual({"a"}, set(self.world.acted))
        self.assertEqual(place, self.run_now(cases.open_or_create("c", self.ann, marker)))
        self.assertTrue((Path(place.path) / ".service-agent-case.json").exists())
        self.assertEqual(place, self.now(cases.resolve_case("c", self.ann)))
        self.assertEqual(str(self.user.home), self.now(cases.default_folder(self.ann, "/")))
        self.assertIs(ErrorCode.NOT_FOUND, self.refusal(cases.resolve_case("d", self.ann)).code)
        self.assertFalse((self.machine.folder / "cases").exists())
