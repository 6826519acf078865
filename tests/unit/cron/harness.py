"""Scheduled jobs on fakes: panes, agents with scripted screens, time by a Clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Any

from attrs import evolve, frozen
from zope.interface import implementer

from tests.event_helpers import to_wire
from tests.unit.agents.harness import AgentHarnessCase
from tests.unit.cases.fake_cases import build_fake_cases
from tests.unit.sessions.harness import ADMIN, start_coroutine
from tservice.audit.interfaces import AuditEntry, IAuditLog
from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import Identity
from tservice.cron.build import build_cron
from tservice.cron.model import CronJob, CronRun
from tservice.cron.service import CronService
from tservice.cron.timed_runs.service import TimedRunService

DAY = 86_400


@implementer(IAuditLog)
class AuditLog:
    """Keeps entries in a list."""

    def __init__(self) -> None:
        self.entries: list[AuditEntry] = []

    def record_entry(self, entry: AuditEntry) -> None:
        self.entries.append(entry)

    def record_summed(self, entry: AuditEntry, amount: int) -> None:
        raise AssertionError("nothing of jobs is summed up")


@frozen
class FewAccounts:
    """Who there is, as far as jobs ask."""

    known_ones: Mapping[str, Identity]

    def find_identity(self, username: str) -> Identity | None:
        return self.known_ones.get(username)

    def account_exists(self, username: str) -> bool:
        return username in self.known_ones


class CronHarnessCase(AgentHarnessCase):
    """Tests with an open and started service.

    @ivar accounts: who there is, in multi-user mode.
    """

    zone: tzinfo = UTC
    multiuser = False

    def setUp(self) -> None:
        super().setUp()
        self.audit = AuditLog()
        self.accounts: dict[str, Identity] = {}
        self.addCleanup(self.finish)
        self.boot()

    def finish(self) -> None:
        self.successResultOf(start_coroutine(self.cron.stop()))
        self.machine.crash()

    def boot(self) -> None:
        """Make the service; it begins at once."""
        machine = self.machine
        ground = machine.ground(
            config=evolve(machine.config, multiuser=self.multiuser),
            environ={"HOME": str(machine.home), "TZ": str(self.zone)},
        )
        accounts: Any = FewAccounts(self.accounts)
        self.cron: CronService = build_cron(
            ground,
            sessions=machine.sessions,
            agents=self.agents.agents,
            clis=machine.clis,
            audit=self.audit,
            accounts=accounts,
            cases=build_fake_cases(ground, lambda: machine.sessions).service,
        ).service
        self.timed = TimedRunService(self.cron, machine.sessions, machine.clis.check_prompt)
        self.cron.start()

    def restart(self, away: float = 0.0) -> None:
        """Kill the service, let time pass without it, and start another."""
        self.machine.crash()
        self.clock.advance(away)
        self.machine.restart()
        self.successResultOf(self.machine.opening)
        self.boot()

    # -- jobs

    def fields(self, **more: Any) -> dict[str, Any]:
        """A good job of a shell, every ten minutes."""
        from tservice.cron.model import ConcurrencyPolicy, InputMode, PromptMode, ScheduleType

        return {
            "name": "nightly",
            "agent_type": "shell",
            "working_dir": str(self.work),
            "prompt_mode": PromptMode.INLINE,
            "prompt_text": "make all",
            "input_mode": InputMode.PASTE,
            "schedule_type": ScheduleType.INTERVAL,
            "interval_minutes": 10,
            "enabled": True,
            "concurrency_policy": ConcurrencyPolicy.WARN,
            **more,
        }

    def make(self, caller: Caller = ADMIN, **more: Any) -> CronJob:
        return self.now(self.cron.create_job(self.fields(**more), caller))

    def job(self, job: CronJob) -> CronJob:
        """As it is now."""
        return next(one for one in self.cron.list_jobs(ADMIN) if one.id == job.id)

    def runs(self, job: CronJob | None = None) -> list[CronRun]:
        """Oldest first."""
        found = (
            self.cron.list_runs(ADMIN) if job is None else self.cron.list_job_runs(job.id, ADMIN)
        )
        return found[::-1]

    def statuses(self, job: CronJob | None = None) -> list[str]:
        return [run.status.value for run in self.runs(job)]

    def run_by_hand(self, job: CronJob) -> tuple[CronRun, int]:
        return self.successResultOf(start_coroutine(self.cron.run_now(job.id, ADMIN)))

    def typed(self, run: CronRun) -> str:
        """What the run's session was given."""
        pane = self.host[run.session_id or ""]
        return bytes(pane.typed).decode()

    def told(self, name: str) -> list[Any]:
        """Payloads of the events of that name so far."""
        return [to_wire(event) for event in self.machine.events if event.name == name]

    def until(self, done: Callable[[], bool], seconds: float = 60) -> None:
        for _ in range(int(seconds * 10)):
            if done():
                return
            self.spend(0.1)
        raise AssertionError("never")

    def file(self, name: str, content: bytes | str = "do it") -> Path:
        path = self.work / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path
