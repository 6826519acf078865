"""A kind of place that this machine does not have joins without anything above the panes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from attrs import evolve

from tests.callers import GRANTED
from tests.unit.sessions.harness import BOOT, SessionCase
from tservice.core.kernel.errors import ErrorCode, make_failure_error
from tservice.core.locations.location import HookAccess, Location, LocationId, LocationKind
from tservice.core.users.os_users import make_missing_user
from tservice.mux.interface import PaneSpec
from tservice.runtime.runtime import Runtime
from tservice.sessions.life.priority import confine_to_location
from tservice.sessions.record.model import NameSource, ProcessPhase, Session, location_fields
from tservice.sessions.record.repository import SessionRepository

_T = TypeVar("_T")

ID = "0a1b2c3d-0000-4000-8000-00000000000a"
FAR = LocationId(kind=LocationKind.REMOTE, name="build")


class FarEffects:
    """Programs of another machine, whose files nobody opens from here."""

    def run_file_work(self, work: Callable[[], _T], /) -> _T:
        raise OSError("its files are far away")

    def find_program(self, names: Sequence[str], /) -> Path | None:
        return Path("/usr/bin") / names[0]

    def build_command(self, argv: Sequence[str], /) -> list[str]:
        return ["/usr/bin/far", *argv]

    def build_environment(self, named: Sequence[str] = (), /) -> Mapping[str, str]:
        return {"HOME": "/home/b", "LANG": "C.UTF-8"}

    def get_search_path(self) -> str:
        return ""


class FarHosts:
    """One host.

    @ivar away: it does not answer.
    """

    def __init__(self) -> None:
        self.away = False
        self.put: list[str] = []
        self.hooks: HookAccess | None = None

    async def refresh_location(self, known: LocationId) -> None:
        if self.away:
            raise make_failure_error("the host does not answer")

    async def refresh_if_reachable(self, known: LocationId) -> None:
        await self.refresh_location(known)

    async def prepare_location(self, known: LocationId) -> None:
        await self.refresh_location(known)

    def find_location(self, known: LocationId) -> Location | None:
        return self.find_earlier_location(known)

    def find_earlier_location(self, known: LocationId) -> Location:
        return Location(
            id=known,
            title="Build host",
            home=Path("/home/b"),
            user=evolve(make_missing_user("b", 1000), shell="/bin/zsh"),
            is_isolated=True,
            has_local_files=False,
            unreadable_reason="remote",
            hooks=self.hooks,
            operations=FarEffects(),
        )

    def get_usable_location(self, known: LocationId, os_user: str | None) -> Location:
        return self.find_earlier_location(known)


class RemoteLocationCase(SessionCase):
    """A record of a session on another machine, and a service that knows that machine."""

    def setUp(self) -> None:
        super().setUp()
        self.hosts = FarHosts()
        self.know(self.hosts)

    def know(self, hosts: FarHosts | None) -> None:
        """Let the next service know C{hosts}."""
        lay = type(self.machine).ground

        def ground(**given: Any) -> Runtime:
            laid = lay(self.machine, **given)
            if hosts is not None:
                laid.locations.register_provider(LocationKind.REMOTE, hosts)
            return laid

        self.patch(self.machine, "ground", ground)

    def keep(self, phase: ProcessPhase, **fields: Any) -> None:
        """Have the record, and a service that finds it."""
        record = Session(
            id=ID,
            mode="shell",
            name="far",
            name_source=NameSource.MANUAL,
            working_dir="/srv/not-here",
            created_at=int(BOOT),
            last_activity_at=int(BOOT),
            phase=phase,
            **location_fields(FAR),
            **fields,
        )
        SessionRepository(self.machine.database).save(record)
        self.machine.restart()
        self.successResultOf(self.machine.opening)

    def running(self) -> None:
        """What an earlier service had started there."""
        place = self.hosts.find_earlier_location(FAR)
        spec = PaneSpec(session_id=ID, argv=("zsh",), env={}, cwd="/", place=place)
        self.run_now(self.machine.mux.create_pane(spec))


class FarTests(RemoteLocationCase):
    def test_remote_session_is_started_with_settings_of_its_location(self) -> None:
        self.keep(ProcessPhase.STOPPED)
        session = self.run_now(self.sessions.start(ID, GRANTED))
        spec = self.pane(session).spec
        self.assertEqual((FAR, "/srv/not-here"), (spec.place.id, spec.cwd))
        # The user's own shell leads; its folder is what finding made of it.
        self.assertEqual(("/bin/zsh", "-l"), spec.argv)
        self.assertEqual(("/home/b", None), (spec.env["HOME"], spec.env.get("PATH")))
        self.assertEqual("", spec.env["SERVICE_HOOK_SECRET_FILE"])

    def test_hooks_of_a_location_have_their_own_url(self) -> None:
        secret = Path("/run/secret")
        self.hosts.hooks = HookAccess(
            secret_file=secret, put=lambda: self.hosts.put.append("x"), url=lambda: "http://bridge"
        )
        self.keep(ProcessPhase.STOPPED)
        session = self.run_now(self.sessions.start(ID, GRANTED))
        env = self.pane(session).spec.env
        told = (env["SERVICE_API_URL"], env["SERVICE_HOOK_SECRET_FILE"])
        self.assertEqual(("http://bridge", str(secret)), told)
        self.assertEqual(["x", "x"], self.hosts.put)

    def test_running_remote_session_is_adopted(self) -> None:
        self.running()
        self.keep(ProcessPhase.RUNNING)
        self.assertIs(ProcessPhase.RUNNING, self.sessions.get(ID).phase)

    def test_unreachable_host_changes_nothing(self) -> None:
        """Unknown is not dead: it is asked again until it answers."""
        self.running()
        self.hosts.away = True
        self.keep(ProcessPhase.RUNNING)
        self.assertIs(ProcessPhase.RUNNING, self.sessions.get(ID).phase)
        self.assertIsNone(self.sessions.get_pane(ID))
        for move in (self.sessions.stop(ID, "done"), self.sessions.delete(ID)):
            self.assert_refused(ErrorCode.OPERATION_FAILED, move)
        self.hosts.away = False
        self.spend(10)
        self.assertIsNotNone(self.sessions.get_pane(ID))

    def test_service_without_remote_hosts_starts_nothing_remote(self) -> None:
        """It starts nothing there, and takes nothing for dead that it cannot see."""
        self.know(None)
        self.keep(ProcessPhase.STOPPED)
        text = self.assert_refused(ErrorCode.OPERATION_FAILED, self.sessions.start(ID, GRANTED))
        self.assertIn("does not support locations of kind remote", text)

    def test_remote_processes_are_not_reniced_locally(self) -> None:
        """Their numbers mean other processes here."""
        renice = confine_to_location(self.machine.renice, FAR)
        self.assertRaises(PermissionError, renice, 1, 5)
        self.assertEqual([], self.machine.renice.set)
