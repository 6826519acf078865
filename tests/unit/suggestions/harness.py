"""Everything that suggestions are made from, in a test's hand."""

from __future__ import annotations

import os
import signal
import stat
from collections.abc import Mapping, Sequence
from typing import Any

from twisted.internet.defer import Deferred

from tests.callers import GRANTED
from tests.fakes.child_processes import FakeProcesses
from tests.unit.sessions.harness import SessionCase, start_coroutine
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.process.child import ChildTools
from tservice.sessions.build import build_session_location_rules
from tservice.sessions.record.model import Session
from tservice.suggestions.intents import IntentService
from tservice.suggestions.interfaces import GitStateReader
from tservice.suggestions.store import IntentStore
from tservice.suggestions.suggester import Suggester, SuggestionSources

GOOD = {"suggestions": [{"prompt": "Go on", "why": "It stopped", "kind": "continue"}]}


class PlayedProcesses(FakeProcesses):
    """Processes of CLIs that the test plays.

    @ivar prompt: what the last one could read on its standard input.
    """

    prompt = ""
    mode = 0

    def spawnProcess(self, *args: Any, **given: Any) -> Any:
        started = super().spawnProcess(*args, **given)
        stdin = given["childFDs"][0]
        self.mode = stat.S_IMODE(os.fstat(stdin).st_mode)
        self.prompt = os.read(stdin, 100_000).decode()
        return started

    @property
    def argv(self) -> list[list[str]]:
        """The command lines."""
        return [call["args"] for call in self.calls]

    @property
    def env(self) -> list[Mapping[str, str]]:
        """The environments."""
        return [call["env"] or {} for call in self.calls]

    @property
    def killed(self) -> list[int]:
        """The groups that were killed."""
        return [group for group, number in self.sent if number == signal.SIGKILL]

    def answers(self, printed: str | bytes, status: int = 0) -> None:
        """Let the last one print and end."""
        child = self.spawned[-1]
        child.protocol.outReceived(printed if isinstance(printed, bytes) else printed.encode())
        if child.pid is not None:
            child.finish(status)


class MindCase(SessionCase):
    """A primary session, and everything that suggestions are made from in the test's hand."""

    def setUp(self) -> None:
        super().setUp()
        machine = self.machine
        self.said: dict[str, Any] = {"text": "It is done.", "messages": []}
        self.item: dict[str, Any] | None = None
        self.processes = PlayedProcesses()
        self.set(read_my_mind_enabled=True)
        self.work = machine.folder / "work"
        self.work.mkdir()
        self.session = self.create(mode="primary", working_dir=str(self.work), start=True)
        self.store = IntentStore(machine.database)
        self.prompted: list[tuple[int, str]] = []
        self.intents = self.make_intents()
        self.mind = self.make_mind()
        left = machine.config.data_dir / "mind" / "ask-old" / "prompt"
        left.parent.mkdir(parents=True)
        left.touch()
        self.intents.start()
        self.mind.start()
        self.assertFalse(left.parent.parent.exists())
        self.addCleanup(self.mind.stop)

    def make_intents(self) -> IntentService:
        machine = self.machine
        return IntentService(
            clock=self.clock,
            hub=machine.hub,
            store=self.store,
            settings=machine.settings,
            sessions=self.sessions,
            threads=machine.ground().worker_pools.files,
            places=machine.ground().locations,
            prompts=self.prompts_since,
        )

    def make_mind(self, git: GitStateReader | None = None) -> Suggester:
        machine = self.machine
        return Suggester(
            clock=self.clock,
            children=self.processes.make_runner(self.clock, ChildTools("/s", "/p")),
            hub=machine.hub,
            settings=machine.settings,
            sessions=self.sessions,
            clis=machine.clis,
            places=machine.ground().locations,
            starting=build_session_location_rules(machine.ground()).find_start_location,
            threads=machine.ground().worker_pools.files,
            sources=SuggestionSources(
                intents=self.intents,
                conversation=self.conversation,
                git=git or self.git,
                pending=lambda session_id: self.item,
            ),
            folder=machine.config.data_dir / "mind",
            random=lambda count: b"\x07" * count,
        )

    async def conversation(self, session_id: str) -> Mapping[str, Any]:
        return self.said

    async def prompts_since(self, session_id: str, since: int) -> Sequence[tuple[int, str]]:
        return [each for each in self.prompted if each[0] >= since]

    async def git(self, session_id: str) -> Mapping[str, Any]:
        return {"repos": [{"path": ".", "status": {"branch": "topic"}}]}

    def set(self, **fields: Any) -> None:
        self.machine.settings.alter(**fields)

    def ask(self, session: Session | None = None, **given: Any) -> Deferred[dict[str, Any]]:
        given.setdefault("granted", True)
        given.setdefault("caller", GRANTED)
        return start_coroutine(self.mind.suggest_prompts((session or self.session).id, **given))

    def assert_unusable(self, asking: Deferred[Any], why: str) -> None:
        error: ServiceError = self.failureResultOf(asking, ServiceError).value
        self.assertEqual(ErrorCode.OPERATION_FAILED, error.code)
        self.assertIn(why, error.message)
        self.assertEqual([], list((self.machine.config.data_dir / "mind").iterdir()))
