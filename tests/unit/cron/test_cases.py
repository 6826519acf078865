"""Jobs in cases of any kind: the rules (protocol-cron-job)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from tests.runtime_harness import NoWorkerPools
from tservice.cases.interfaces import ResolvedCase
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ServiceError, make_not_found_error
from tservice.core.locations.location import LocationId, LocationKind
from tservice.cron.model import (
    ConcurrencyPolicy,
    InputMode,
    JobDefinition,
    PromptMode,
    ScheduleType,
    merge_definition,
)
from tservice.cron.rules import JobRules

ANN = Identity(username="ann", admin=True)
FAR = ResolvedCase(
    name="Far", path="/home/me/far", place=LocationId(kind=LocationKind.REMOTE, name="h")
)
BOX = ResolvedCase(
    name="Box", path="/srv/box", place=LocationId(kind=LocationKind.CONTAINER, name="b")
)


class ShellOnlyRegistry:
    """Knows one mode."""

    def get_entry(self, mode: str) -> Any:
        return self

    get_enabled_entry = get_entry
    enabled = True

    @property
    def capabilities(self) -> Any:
        return self

    privileged_command_gate = False

    def check_prompt(self, mode: str, text: str, named: str, *, granted: bool) -> None:
        """Every prompt passes."""


class CaseRuleTests(SynchronousTestCase):
    def rules(self) -> JobRules:
        async def case(name: str, caller: Identity) -> ResolvedCase:
            for known in (FAR, BOX):
                if known.name.casefold() == name.casefold():
                    return known
            raise make_not_found_error(f"Case {name}")

        async def folder(text: str, caller: Identity) -> str:
            raise AssertionError("a case has its own folder")

        clis: Any = ShellOnlyRegistry()
        return JobRules(
            clis=clis,
            folder=folder,
            case=case,
            files=NoWorkerPools().files,
            data_dir=Path("/srv/data"),
            cases_dir=Path("/srv/cases"),
        )

    def defined(self, name: str, **more: Any) -> JobDefinition:
        fields = {
            "name": "nightly",
            "agent_type": "shell",
            "case_name": name,
            "prompt_mode": PromptMode.INLINE,
            "prompt_text": "make",
            "input_mode": InputMode.PASTE,
            "schedule_type": ScheduleType.INTERVAL,
            "interval_minutes": 10,
            "enabled": True,
            "concurrency_policy": ConcurrencyPolicy.WARN,
            **more,
        }
        return merge_definition(fields)

    def job(self, name: str, **more: Any) -> JobDefinition:
        return self.successResultOf(self.check(self.defined(name, **more)))

    def refused(self, name: str, **more: Any) -> ServiceError:
        answer = self.check(self.defined(name, **more))
        error: ServiceError = self.failureResultOf(answer, ServiceError).value
        return error

    def check(self, definition: JobDefinition) -> Deferred[JobDefinition]:
        return Deferred.fromCoroutine(self.rules().check_definition(definition, ANN))

    def test_job_runs_in_the_folder_of_its_case(self) -> None:
        """Whatever else was given."""
        for name, known in (("far", FAR), ("box", BOX)):
            found = self.job(name, working_dir="/elsewhere")
            self.assertEqual((known.name, known.path), (found.case_name, found.working_dir))

    def test_prompt_file_on_another_machine_is_not_read(self) -> None:
        more = {"prompt_mode": PromptMode.FILE, "prompt_text": None}
        found = self.job("box", prompt_file_path="/srv/box/p", **more)
        self.assertEqual("/srv/box/p", found.prompt_file_path)
        error = self.refused("far", prompt_file_path="/home/me/far/p", **more)
        self.assertIn("promptMode: must not be a file", error.message)

    def test_case_or_folder_is_required(self) -> None:
        self.assertEqual("Case none not found", self.refused("none").message)
        error = self.assertRaises(ServiceError, merge_definition, {
            "prompt_mode": PromptMode.INLINE, "prompt_text": "x",
            "schedule_type": ScheduleType.INTERVAL, "interval_minutes": 10,
        })  # fmt: skip
        self.assertEqual("workingDir: is required", error.message)
