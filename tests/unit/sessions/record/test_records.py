"""Records on disk and on the wire."""

from __future__ import annotations

import attrs
from attrs import evolve
from pydantic.alias_generators import to_camel
from twisted.trial.unittest import SynchronousTestCase

from tests.event_helpers import to_wire
from tservice.core.locations.location import (
    OWN_LOCATION,
    LocationId,
    LocationKind,
    make_os_user_location,
)
from tservice.core.users.os_users import OsUserId
from tservice.sessions.record.columns import COLUMNS
from tservice.sessions.record.model import (
    AutoClear,
    AutoCompact,
    AutoResume,
    ContainerTarget,
    EndpointModel,
    ForegroundProgram,
    NameSource,
    ProcessExit,
    ProcessPhase,
    ProcessPriority,
    RemoteTarget,
    Session,
    SessionColour,
    SessionLocationKind,
    SessionStall,
    SessionStatus,
    Snooze,
    TodoItem,
    TokenUsage,
    location_fields,
)
from tservice.sessions.record.repository import SessionRepository
from tservice.sessions.record.wire import make_session_answer
from tservice.store.database import Database

BARE = Session(
    id="0b6e5b0e-98f5-4a59-a69b-9f80b5a20f62",
    mode="shell",
    name="n",
    name_source=NameSource.PLACEHOLDER,
    working_dir="/w",
    created_at=1,
    last_activity_at=2,
)
FULL = evolve(
    BARE,
    phase=ProcessPhase.ERROR,
    status=SessionStatus.ERROR,
    status_reason="r",
    pid=7,
    owner="ann",
    case_name="c",
    last_submit_at=3,
    turn_open=True,
    parent_session_id="p",
    agent_origin="claude",
    position=4,
    colour=SessionColour.BLUE,
    pinned=True,
    pinned_at=5,
    cols=80,
    rows=24,
    auto_compact=AutoCompact(enabled=True, threshold=6, prompt="x"),
    auto_clear=AutoClear(enabled=True, threshold=7),
    auto_resume=AutoResume(enabled=True, resume_at=8),
    limit_paused=True,
    nice=ProcessPriority(enabled=True, value=-5),
    flicker_filter=True,
    snooze=Snooze(until=10),
    tokens=TokenUsage(input=1, output=2, total=3),
    total_cost=1.5,
    cost_unknown=True,
    context_used_percentage=12.5,
    models={"screen": "Opus"},
    params={"model": "opus", "fast": True, "n": 3},
    env_overrides={"TOKEN": "s3cret"},
    custom_model=EndpointModel(endpoint_id="e", model_id="m", label="l"),
    conversation_ids=("a", "b"),
    pane_exit=ProcessExit(status=1, at=9),
    location=SessionLocationKind.REMOTE,
    remote=RemoteTarget(host_id="h", name="n", owned=False),
    container=ContainerTarget(host_id="h", name="n"),
    os_user=OsUserId(name="ann", uid=1001),
    hooks_available=True,
    statusline_telemetry=True,
)


class DiskTests(SynchronousTestCase):
    """L{SessionRepository}."""

    def setUp(self) -> None:
        self.repository = SessionRepository(Database.open_in_memory())

    def test_session_record_round_trips(self) -> None:
        for session in (BARE, FULL):
            self.repository.save(session)
            self.assertEqual([session], self.repository.load())

    def test_model_from_agent_settings_is_not_restored(self) -> None:
        """They are read again at every start (protocol-session)."""
        self.repository.save(evolve(BARE, models={"screen": "a", "config": "b"}))
        (found,) = self.repository.load()
        self.assertEqual({"screen": "a"}, found.models)

    def test_full_sample_record_changes_every_field(self) -> None:
        """So that the round trip tells of a column that is forgotten."""
        same = [
            attribute.name
            for attribute in attrs.fields(Session)
            if attribute.name in COLUMNS
            and getattr(BARE, attribute.name) == getattr(FULL, attribute.name)
        ]
        kept = ["id", "mode", "name", "name_source", "working_dir", "created_at"]
        self.assertEqual([*kept, "last_activity_at"], same)

    def test_records_keep_their_order_and_are_removed(self) -> None:
        one, two = evolve(BARE, id="1", position=0), evolve(BARE, id="2", position=1)
        self.repository.save(one)
        self.repository.save(two)
        self.repository.set_positions({"1": 1, "2": 0})
        self.assertEqual(["2", "1"], [session.id for session in self.repository.load()])
        self.repository.delete_record("2")
        self.assertEqual(["1"], [session.id for session in self.repository.load()])


class WireTests(SynchronousTestCase):
    """L{make_session_answer}."""

    def test_every_public_field_is_in_the_response(self) -> None:
        hidden = {"phase", "position", "models", "envOverrides", "statuslineTelemetry", "osUser"}
        hidden |= {"agentOrigin", "colour", "turnOpen"}
        derived = {"color", "displayModel", "displayModelSource", "respawnBlocked"}
        fields = {to_camel(each.name) for each in attrs.fields(Session)}
        full = evolve(FULL, current_tool="Bash make", background_tasks=1)
        full = evolve(full, todos=(TodoItem(text="Look"),), current_task="Looking")
        full = evolve(full, last_answer="Done.", last_exit_status=0, server_ports=(8000,))
        full = evolve(full, stall=SessionStall(reason="silent", since=1, detail="Busy."))
        full = evolve(full, foreground=ForegroundProgram(name="make", since=5), status_conflict="x")
        self.assertEqual(fields - hidden | derived, set(to_wire(make_session_answer(full))))

    def test_nested_records_are_in_the_response(self) -> None:
        shown = to_wire(
            make_session_answer(evolve(FULL, pane_exit=ProcessExit(signal="KILL", at=9)))
        )
        self.assertEqual({"signal": "KILL", "at": 9}, shown["paneExit"])
        self.assertEqual({"hostId": "h", "name": "n", "owned": False}, shown["remote"])
        self.assertEqual(["a", "b"], shown["conversationIds"])
        self.assertEqual("blue", shown["color"])

    def test_null_and_absent_fields_are_distinguished(self) -> None:
        answer = to_wire(make_session_answer(BARE))
        self.assertIsNone(answer["pid"])
        self.assertIsNone(answer["displayModel"])
        nulls = {name for name, value in answer.items() if value is None}
        self.assertEqual({"pid", "displayModel"}, nulls)
        self.assertNotIn("respawnBlocked", answer)

    def test_secrets_are_not_in_the_response(self) -> None:
        self.assertNotIn("s3cret", repr(make_session_answer(FULL)))
        self.assertNotIn("s3cret", repr(FULL))


class RecordLocationTests(SynchronousTestCase):
    """Where a session lives is told by four columns."""

    def test_every_location_kind_round_trips(self) -> None:
        for place in (
            OWN_LOCATION,
            make_os_user_location("ann", 1001),
            LocationId(kind=LocationKind.CONTAINER, name="default", part="web"),
            LocationId(kind=LocationKind.REMOTE, name="h", part="Build host"),
        ):
            self.assertEqual(place, evolve(BARE, **location_fields(place)).location_id)

    def test_location_without_a_host_name_is_read(self) -> None:
        for location in (SessionLocationKind.CONTAINER, SessionLocationKind.REMOTE):
            self.assertEqual(location.value, evolve(BARE, location=location).location_id.kind.value)
