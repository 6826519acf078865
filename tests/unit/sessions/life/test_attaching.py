"""Sessions of somebody else's on a remote host: the rules (protocol-remote)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attrs import evolve

from tests.callers import GRANTED, make_caller
from tests.unit.sessions.harness import ADMIN, SessionCase, SessionHarness, start_coroutine
from tservice.core.callers.caller import Caller
from tservice.core.kernel.errors import ErrorCode, make_failure_error
from tservice.core.locations.location import OWN_LOCATION, Location, LocationId, LocationKind
from tservice.mux.interface import PaneSpec
from tservice.runtime.runtime import Runtime
from tservice.sessions.record.model import (
    ProcessPhase,
    RemoteTarget,
    Session,
    SessionLocationKind,
    location_fields,
)
from tservice.sessions.record.requests import CreateRequest

THERE = LocationId(kind=LocationKind.REMOTE, name="h", part="work")


class OneHost:
    """Knows one host, which is there or not."""

    def __init__(self, own: Location) -> None:
        self.own, self.away = own, False

    async def refresh_location(self, known: LocationId) -> None:
        if self.away:
            raise make_failure_error("it is out of reach")

    refresh_if_reachable = prepare_location = refresh_location

    def find_location(self, known: LocationId) -> Location | None:
        return evolve(self.own, id=known) if known.name == "h" else None

    def find_earlier_location(self, known: LocationId) -> Location:
        return evolve(self.own, id=known)

    def get_usable_location(self, known: LocationId, os_user: str | None) -> Location:
        return evolve(self.own, id=known)


class AttachedHostHarness(SessionHarness):
    """With a host behind it."""

    def ground(self, **given: Any) -> Runtime:
        ground = super().ground(**given)
        self.far = OneHost(ground.locations.find_earlier_location(OWN_LOCATION))
        ground.locations.register_provider(LocationKind.REMOTE, self.far)
        return ground


class AttachingTests(SessionCase):
    machine: AttachedHostHarness

    def setUp(self) -> None:
        self.machine = AttachedHostHarness(Path(self.mktemp()).absolute())
        self.clock, self.host = self.machine.clock, self.machine.host
        self.run_now(self.sessions.load_and_adopt_sessions())

    def make(self, place: LocationId = THERE, caller: Caller = ADMIN, **more: Any) -> Any:
        return self.sessions.create(CreateRequest(attach=place, **more), caller)

    def somebody_starts(self, session: Session) -> None:
        """There is such a tmux session now."""
        place = self.machine.far.find_earlier_location(THERE)
        spec = PaneSpec(session_id=session.id, argv=("sh",), env={}, cwd="/", place=place)
        self.host.start_pane(spec, lambda hosted: None)

    def test_attached_session_is_stored_with_its_remote_name(self) -> None:
        remote = RemoteTarget(host_id="h", name="work", owned=False)
        self.assertEqual(
            {"location": SessionLocationKind.REMOTE, "remote": remote}, location_fields(THERE)
        )
        own = location_fields(LocationId(kind=LocationKind.REMOTE, name="h"))
        self.assertTrue(own["remote"].owned)

    def test_attaching_is_for_admins(self) -> None:
        ann = make_caller(username="ann", admin=False)
        self.assert_refused(ErrorCode.FORBIDDEN, self.make(caller=ann))

    def test_unknown_host_is_not_found(self) -> None:
        nowhere = LocationId(kind=LocationKind.REMOTE, name="x", part="work")
        text = self.assert_refused(ErrorCode.NOT_FOUND, self.make(nowhere))
        self.assertEqual("Remote host x not found", text)

    def test_missing_tmux_session_is_an_error(self) -> None:
        text = self.assert_refused(ErrorCode.OPERATION_FAILED, self.make(start=True))
        self.assertIn("there is no tmux session work", text)
        self.assertEqual([], self.sessions.list())

    def test_attached_session_is_never_started(self) -> None:
        session = self.run_now(self.make())
        self.assertEqual(("shell", None, False), (session.mode, session.pid, session.is_owned))
        self.assert_refused(ErrorCode.OPERATION_FAILED, self.sessions.start(session.id, GRANTED))
        self.assertEqual(ProcessPhase.EXITED, self.sessions.get(session.id).phase)
        self.somebody_starts(session)
        self.run_now(self.sessions.start(session.id, GRANTED))
        self.assertEqual(self.pane(session).pid, self.sessions.get(session.id).pid)
        self.assertEqual(1, len(self.host.specs), "there is that of somebody alone")

    def test_attached_session_of_an_unreachable_host_can_be_removed(self) -> None:
        """Nothing of it would be ended there."""
        session = self.run_now(self.make())
        self.somebody_starts(session)
        self.run_now(self.sessions.start(session.id, GRANTED))
        self.machine.crash()
        self.machine.boot()
        self.machine.far.away = True
        self.machine.opening = start_coroutine(self.sessions.load_and_adopt_sessions())
        self.assertIsNone(self.sessions.get_pane(session.id))
        self.run_now(self.sessions.delete(session.id))
        self.assertFalse(self.pane(session).is_gone)
