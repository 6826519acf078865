"""Agents of OS users: whose settings, transcripts and hooks are whose."""

from __future__ import annotations

import json

from attrs import evolve
from twisted.internet.defer import Deferred

from tests.runtime_harness import unbounded
from tests.unit.agents.harness import AgentHarnessCase, run_directly
from tests.unit.sessions.harness import ADMIN
from tservice.agents.model import HookEvent
from tservice.agents.transcripts.conversation.reader_cache import ReaderCache
from tservice.agents.transcripts.files import TranscriptLocations
from tservice.agents.transcripts.history import ConversationHistory
from tservice.agents.transcripts.transcript_homes import TranscriptHomes
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.sessions.record.model import ModelSource, Session

HOOK = Identity(username="hook", admin=False, method="hook")


class AgentOsUserTests(AgentHarnessCase):
    def setUp(self) -> None:
        super().setUp()
        self.world = self.machine.os_users
        self.user = self.world.add("a", 1001)
        self.ann = self.world.caller("ann", "a")
        self.machine.config = evolve(self.machine.config, multiuser=True)
        self.machine.restart()
        self.successResultOf(self.machine.opening)

    def of_ann(self) -> Session:
        """A running agent of hers."""
        return self.create(self.ann, mode="primary", working_dir=str(self.work), start=True)

    def test_hooks_are_written_as_the_os_user(self) -> None:
        (self.user.home / ".claude").mkdir()
        own = {"statusLine": {"type": "command", "command": "hers"}, "model": "m-of-ann"}
        (self.user.home / ".claude" / "settings.json").write_text(json.dumps(own))
        self.change_settings(show_plan_usage_limits=True)
        self.world.acted.clear()
        session = self.of_ann()
        self.assertEqual({"a"}, set(self.world.acted))
        made = json.loads((self.work / ".claude" / "settings.local.json").read_text())
        self.assertIn("hers", made["statusLine"]["command"])
        self.assertEqual("m-of-ann", self.sessions.get(session.id).models[ModelSource.CONFIG])

    def test_plan_usage_belongs_to_the_os_user(self) -> None:
        """Each user's agent has a login of its own, so a plan of its own."""
        hers, own = self.of_ann(), self.agent()
        used = {"rate_limits": {"five_hour": {"used_percentage": 7}}}
        self.agents.telemetry.handle_telemetry_report(hers.id, used, evolve(HOOK, os_uid=1001))
        self.assertIsNone(self.agents.agents.get_plan_usage())
        self.agents.telemetry.handle_telemetry_report(own.id, used, HOOK)
        self.assertIsNotNone(self.agents.agents.get_plan_usage())

    def test_hook_secret_is_valid_for_sessions_of_its_os_user(self) -> None:
        hers, own = self.of_ann(), self.agent()
        for session, uid, right in (
            (hers, 1001, True),
            (hers, 1002, False),
            (hers, None, False),
            (own, None, True),
            (own, 1001, False),
        ):
            for take in (self._hook, self._telemetry):
                if right:
                    take(session, evolve(HOOK, os_uid=uid))
                    continue
                error = self.assertRaises(ServiceError, take, session, evolve(HOOK, os_uid=uid))
                self.assertEqual(
                    (ErrorCode.NOT_FOUND, f"Session {session.id} not found"),
                    (error.code, error.message),
                )

    def test_other_accounts_reach_only_their_own_sessions(self) -> None:
        hers = self.of_ann()
        self._hook(hers, ADMIN)
        stranger = Identity(username="x", admin=False)
        self.assertRaises(ServiceError, self._hook, hers, stranger)

    def _hook(self, session: Session, caller: Identity) -> None:
        self.agents.hooks.handle_hook_event(HookEvent.STOP, session.id, {}, caller)

    def _telemetry(self, session: Session, caller: Identity) -> None:
        self.agents.telemetry.handle_telemetry_report(session.id, {}, caller)

    def test_history_is_of_the_home_of_the_os_user(self) -> None:
        """Each account sees the conversations of its own OS user's home."""
        line = json.dumps({"type": "user", "cwd": "/w", "message": {
            "role": "user", "content": "x"}})  # fmt: skip
        for home, name in ((self.machine.home, "own"), (self.user.home, "hers")):
            folder = home / ".claude" / "projects" / "-w"
            folder.mkdir(parents=True)
            (folder / f"{name}.jsonl").write_text(line + "\n")
        homes = TranscriptHomes(
            own=TranscriptLocations.from_home(self.machine.home),
            places=self.world.places(),
            inside=unbounded,
        )
        readers = ReaderCache(lambda _: None)
        history = ConversationHistory(self.sessions, homes, run_directly, lambda: 0.0, readers)
        hers = evolve(self.ann, admin=True)
        for caller, name, acted in ((ADMIN, "own", []), (hers, "hers", ["a", "a"])):
            self.world.acted.clear()
            listed = history.list_conversations(caller, 10, 0)
            found = self.successResultOf(Deferred.fromCoroutine(listed))
            self.assertEqual([name], [each.id for each in found.sessions])
            self.assertEqual(acted, self.world.acted)
        self.world.remove("a")
        refused = history.list_conversations(self.ann, 10, 0)
        self.failureResultOf(Deferred.fromCoroutine(refused), ServiceError)
