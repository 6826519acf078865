"""Everything that suggestions are made from, in a test's hand."""

from __future__ import annotations

import os
import signal
import stat
from collections.abc import Mapping, Sequence
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.error import ProcessDone, ProcessTerminated
from twisted.python.failure import Failure

from tests.unit.sessions.harness import SessionCase, start_coroutine
from tservice.core.errors import ErrorCode, ServiceError
from tservice.sessions.build import build_session_location_rules
from tservice.sessions.record.model import Session
from tservice.suggestions.intents import IntentService
from tservice.suggestions.interfaces import GitStateReader
from tservice.suggestions.oneshot_process import OneShotProcess
from tservice.suggestions.store import IntentStore
from tservice.suggestions.suggester import Suggester, SuggestionSources

GOOD = {"suggestions": [{"prompt": "Go on", "why": "It stopped", "kind": "continue"}]}


class PlayedProcesses:
    """Starts nothing; the test plays the child.

    @ivar prompt: what the last one could read on its standard input.
    """

    def __init__(self) -> None:
        self.children: list[OneShotProcess] = []
        self.argv: list[list[str]] = []
        self.env: list[Mapping[str, str]] = []
        self.killed: list[int] = []
        self.prompt = self.stands = ""
        self.slow = False
        self.error: OSError | None = None

    def spawnProcess(
        self,
        child: OneShotProcess,
        program: str,
        argv: list[str],
        env: Any,
        path: str,
        childFDs: Any,
    ) -> None:
        if self.error is not None:
            raise self.error
        self.argv.append(argv)
        self.stands = path
        self.env.append(env)
        self.mode = stat.S_IMODE(os.fstat(childFDs[0]).st_mode)
        self.prompt = os.read(childFDs[0], 100_000).decode()
        self.children.append(child)
        child.makeConnection(PlayedTransport(4000 + len(self.children)))

    def kill_group(self, group: int, number: int) -> None:
        self.killed.append(group)
        child = self.children[group - 4001]
        if child.transport.pid is not None and number == signal.SIGKILL and not self.slow:
            self.ends(child, signal_number=9)

    def ends(
        self, child: OneShotProcess, status: int = 0, signal_number: int | None = None
    ) -> None:
        """It is over."""
        transport: Any = child.transport
        transport.pid = None
        failed = status or signal_number
        value = (
            ProcessTerminated(None if signal_number else status, signal_number)
            if failed
            else ProcessDone(0)
        )
        child.processExited(Failure(value))
        child.processEnded(Failure(value))

    def answers(self, printed: str | bytes, status: int = 0) -> None:
        """The last one prints, and ends."""
        child = self.children[-1]
        child.outReceived(printed if isinstance(printed, bytes) else printed.encode())
        if child.transport.pid is not None:
            self.ends(child, status)


class PlayedTransport:
    """A child's process."""

    def __init__(self, pid: int) -> None:
        self.pid: int | None = pid

    def loseConnection(self) -> None:
        """Its pipes are closed."""

    def signalProcess(self, name: str) -> None:
        raise AssertionError("the group was there to be killed")


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
            processes=self.processes,  # type: ignore[arg-type]
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
            make=lambda clock: OneShotProcess(clock, self.processes.kill_group),
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
        return start_coroutine(self.mind.suggest_prompts((session or self.session).id, **given))

    def assert_unusable(self, asking: Deferred[Any], why: str) -> None:
        error: ServiceError = self.failureResultOf(asking, ServiceError).value
        self.assertEqual(ErrorCode.OPERATION_FAILED, error.code)
        self.assertIn(why, error.message)
        self.assertEqual([], list((self.machine.config.data_dir / "mind").iterdir()))
