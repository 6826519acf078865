"""The status files of Claude Code, as evidence and as a check of the screen."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from twisted.trial.unittest import SynchronousTestCase

from tests.unit.agents.harness import COMPOSER, PERMISSION, SPINNER, AgentHarnessCase
from tservice.agents.channels import status_channel, status_folders
from tservice.agents.channels.build import build_server_channels
from tservice.agents.channels.claude_status import parse_status
from tservice.agents.channels.reported_status import ReportedState
from tservice.agents.channels.status_channel import StatusChannel
from tservice.agents.channels.status_folders import StatusFolders
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import make_failure_error
from tservice.core.locations.location import Location
from tservice.sessions.interfaces import Session

_T = TypeVar("_T")


def status_file(pid: int, status: str, since: int, **more: Any) -> bytes:
    return json.dumps({"pid": pid, "status": status, "statusUpdatedAt": since, **more}).encode()


class ParseTests(SynchronousTestCase):
    """L{parse_status}."""

    def test_status_and_reason_are_read(self) -> None:
        found = parse_status(status_file(7, "waiting", 5, waitingFor="permission prompt"), 7)
        assert found is not None
        self.assertEqual((ReportedState.WAITING, 5), (found.state, found.since))
        self.assertEqual("status file: waiting (permission prompt)", found.words)

    def test_page_of_a_person_is_no_state_of_a_turn(self) -> None:
        found = parse_status(status_file(7, "waiting", 5, waitingFor="dialog open"), 7)
        assert found is not None
        self.assertIsNone(found.doing)

    def test_other_content_is_no_status(self) -> None:
        for content in (
            b"",
            b"{",
            b"[]",
            b"null",
            b'{"status": []}',
            b"[" * 100_000,
            status_file(8, "idle", 5),
            status_file(7, "dreaming", 5),
            status_file(7, "idle", True),
            status_file(7, "idle", "5"),  # type: ignore[arg-type]
        ):
            self.assertIsNone(parse_status(content, 7), content[:40])

    def test_words_are_cut_and_cleaned(self) -> None:
        said = "\x1b[31m" + "x" * 500
        found = parse_status(status_file(7, "waiting", 5, waitingFor=said), 7)
        assert found is not None
        self.assertLess(len(found.words), 120)
        self.assertNotIn("\x1b", found.words)


class StatusChannelTests(AgentHarnessCase):
    """L{StatusChannel}, with a folder whose changes the test announces."""

    def setUp(self) -> None:
        super().setUp()
        self.folder = self.machine.home / ".claude" / "sessions"
        self.folder.mkdir(parents=True)
        self.heard: list[Callable[[], None]] = []
        self.refuses = False
        ground = self.machine.ground()
        channels = build_server_channels(
            ground, self.agents.agents, self.machine.clis, self.agents.hooks
        )
        self.channel = StatusChannel(
            self.clock,
            lambda: self.sessions,
            self.agents.agents,
            self.machine.clis,
            self.machine.settings,
            ground.locations,
            self.make_folders,
            channels.servers,
            channels.sockets.get_path,
        )
        self.channel.start(self.machine.hub)
        self.addCleanup(self.channel.close)

    def make_folders(self, tell: Callable[[str, int, bytes], None]) -> StatusFolders:
        async def run(place: Location, work: Callable[[], _T], at: str, owner: str | None) -> _T:
            return work()

        self.folders = StatusFolders(self.clock, self.watch, run, tell)
        return self.folders

    def watch(self, folder: int, heard: Callable[[], None]) -> Callable[[], None]:
        if self.refuses:
            raise make_failure_error("too many")
        self.assertEqual(str(self.folder), os.readlink(f"/proc/self/fd/{folder}"))
        self.heard.append(heard)
        return lambda: self.heard.remove(heard)

    def path(self, session: Session) -> Path:
        return self.folder / f"{self.sessions.get(session.id).pid}.json"

    def write(self, session: Session, status: str, since: int | None = None, **more: Any) -> None:
        """The agent writes its file."""
        pid = self.sessions.get(session.id).pid or 0
        at = get_unix_ms(self.clock) if since is None else since
        self.path(session).write_bytes(status_file(pid, status, at, **more))
        for heard in tuple(self.heard):
            heard()

    def working(self) -> Session:
        session = self.ready()
        self.hook(session, "prompt_submitted")
        self.show(session, SPINNER)
        self.spend(1)
        self.assertEqual("busy", self.status(session)[0])
        return session

    def test_idle_ends_a_turn_before_the_screen_does(self) -> None:
        session = self.working()
        self.write(session, "busy")
        self.spend(0.2)
        self.write(session, "idle")
        self.spend(0.05)
        self.assertEqual("busy", self.status(session)[0])
        self.spend(0.1)
        self.assertEqual(("idle", "status file: idle"), self.status(session))

    def test_old_status_changes_nothing(self) -> None:
        session = self.working()
        self.write(session, "idle", since=get_unix_ms(self.clock) - 60_000)
        self.spend(1)
        self.assertEqual("busy", self.status(session)[0])

    def test_short_work_is_no_turn_and_longer_work_is(self) -> None:
        session = self.ready()
        self.write(session, "busy")
        self.spend(0.3)
        self.write(session, "idle")
        self.spend(1)
        self.assert_signals([])
        self.spend(0.01)
        self.write(session, "busy")
        self.spend(0.6)
        self.assertEqual(("busy", "status file: busy"), self.status(session))

    def test_dialog_and_its_answer_are_evidence(self) -> None:
        session = self.working()
        self.write(session, "waiting", waitingFor="permission prompt")
        self.spend(0.6)
        said = self.status(session)
        self.assertEqual(("busy", "status file: waiting (permission prompt)"), said)
        self.spend(0.01)
        self.write(session, "busy")
        self.spend(0.01)
        self.assertEqual(("busy", "status file: busy"), self.status(session))

    def test_disagreement_is_reported_once_and_lifted(self) -> None:
        session = self.ready()
        self.write(session, "waiting", waitingFor="dialog open")
        self.spend(status_channel.DISAGREE - 0.5)
        self.assertIsNone(self.sessions.get(session.id).status_conflict)
        self.spend(1)
        words = "status file: waiting (dialog open), screen: idle"
        self.assertEqual(words, self.sessions.get(session.id).status_conflict)
        self.show(session, COMPOSER + "\n")
        self.spend(10)
        self.assertEqual(1, self.channel.disagreements)
        self.show(session, PERMISSION)
        self.spend(1)
        self.assertIsNone(self.sessions.get(session.id).status_conflict)
        self.assertEqual(1, self.channel.disagreements)

    def test_short_difference_is_not_reported(self) -> None:
        session = self.ready()
        self.write(session, "waiting", waitingFor="dialog open")
        self.spend(1)
        self.write(session, "idle")
        self.spend(5)
        self.assertEqual(0, self.channel.disagreements)

    def test_missing_and_strange_files_change_nothing(self) -> None:
        session = self.working()
        path = self.path(session)
        for make in (
            lambda: path.write_bytes(b"x" * (status_folders.READ_BYTES + 1)),
            lambda: os.mkfifo(path),
            lambda: path.symlink_to("/etc/passwd"),
            lambda: path.mkdir(),
            lambda: None,
        ):
            make()
            for heard in tuple(self.heard):
                heard()
            self.spend(0.5)
            if path.is_dir() and not path.is_symlink():
                path.rmdir()
            else:
                path.unlink(missing_ok=True)
        self.assertEqual("busy", self.status(session)[0])

    def test_folder_that_cannot_be_watched_is_read_with_the_screen(self) -> None:
        self.refuses = True
        session = self.working()
        self.assertEqual([], self.heard)
        self.refuses = False
        self.spend(status_folders.RETRY)
        self.show(session, SPINNER + "\n")
        self.spend(1)
        self.assertEqual(1, len(self.heard))

    def test_sessions_of_one_home_share_one_watch(self) -> None:
        one, two = self.ready(), self.ready()
        self.assertEqual((1, 2), (len(self.heard), len(self.folders)))
        for session in (one, two):
            self.run_now(self.sessions.delete(session.id))
        self.assertEqual((0, 0), (len(self.heard), len(self.folders)))

    def test_setting_switches_the_channel_off(self) -> None:
        self.change_settings(agent_channels_off=("primary",))
        self.ready()
        self.assertEqual(0, len(self.folders))

    def test_other_modes_have_no_status_file(self) -> None:
        self.agent("› Ask Codex to do anything", mode="codex")
        self.assertEqual(0, len(self.folders))
