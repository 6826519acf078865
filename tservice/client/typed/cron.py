"""Cron: what a program may ask, send and get.  Written by C{make docs}."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from tservice.client.calling import Calling, quoted


class JobAnswer(TypedDict):
    """A job; times in Unix milliseconds."""

    id: str
    owner: NotRequired[str]
    name: str
    agentType: str
    workingDir: str
    caseName: NotRequired[str]
    launchCommand: NotRequired[str]
    promptMode: Literal["inline_text", "prompt_file_path"]
    promptText: NotRequired[str]
    promptFilePath: NotRequired[str]
    inputMode: Literal["paste", "typed"]
    scheduleType: Literal["once", "interval", "daily", "weekly", "cron"]
    runAt: NotRequired[int]
    intervalMinutes: NotRequired[int]
    dailyTime: NotRequired[str]
    weeklyDays: NotRequired[list[int]]
    weeklyTime: NotRequired[str]
    cronExpression: NotRequired[str]
    enabled: bool
    concurrencyPolicy: Literal["warn_only", "skip_if_same_agent_running"]
    autoClosePreviousSession: bool
    notes: NotRequired[str]
    createdAt: int
    updatedAt: int
    lastRunAt: int | None
    nextRunAt: int | None
    lastStatus: Literal["created", "session_started", "prompt_sent", "failed", "skipped"] | None
    lastDueKey: str | None
    completedOnce: NotRequired[bool]


class JobBody(TypedDict):
    """A new job (protocol-cron-job)."""

    caseName: NotRequired[str | None]
    launchCommand: NotRequired[str | None]
    promptText: NotRequired[str | None]
    promptFilePath: NotRequired[str | None]
    runAt: NotRequired[int | None]
    intervalMinutes: NotRequired[int | None]
    dailyTime: NotRequired[str | None]
    weeklyDays: NotRequired[list[int] | None]
    weeklyTime: NotRequired[str | None]
    cronExpression: NotRequired[str | None]
    autoClosePreviousSession: NotRequired[bool | None]
    notes: NotRequired[str | None]
    name: str
    agentType: str
    workingDir: NotRequired[str | None]
    promptMode: Literal["inline_text", "prompt_file_path"]
    inputMode: Literal["paste", "typed"]
    scheduleType: Literal["once", "interval", "daily", "weekly", "cron"]
    enabled: bool
    concurrencyPolicy: Literal["warn_only", "skip_if_same_agent_running"]


class JobEnabledBody(TypedDict):
    """Whether the job fires."""

    enabled: bool


class JobPatch(TypedDict):
    """Any of a job's fields; C{null} takes an optional one away. The defaults stand for fields
    that are not there.
    """

    caseName: NotRequired[str | None]
    launchCommand: NotRequired[str | None]
    promptText: NotRequired[str | None]
    promptFilePath: NotRequired[str | None]
    runAt: NotRequired[int | None]
    intervalMinutes: NotRequired[int | None]
    dailyTime: NotRequired[str | None]
    weeklyDays: NotRequired[list[int] | None]
    weeklyTime: NotRequired[str | None]
    cronExpression: NotRequired[str | None]
    autoClosePreviousSession: NotRequired[bool | None]
    notes: NotRequired[str | None]
    name: NotRequired[str]
    agentType: NotRequired[str]
    workingDir: NotRequired[str]
    promptMode: NotRequired[Literal["inline_text", "prompt_file_path"]]
    inputMode: NotRequired[Literal["paste", "typed"]]
    scheduleType: NotRequired[Literal["once", "interval", "daily", "weekly", "cron"]]
    enabled: NotRequired[bool]
    concurrencyPolicy: NotRequired[Literal["warn_only", "skip_if_same_agent_running"]]


class OneJob(TypedDict):
    """A job, wrapped."""

    job: JobAnswer


class PreviewAnswer(TypedDict):
    """The next fires, fewer than 5 where there are no more; Unix milliseconds."""

    fires: list[int]
    explanation: NotRequired[str]


class RunAnswer(TypedDict):
    """A run; C{finishedAt} is about its launch and its prompt, not about the agent's work."""

    id: str
    sessionId: str | None
    sessionName: str | None
    status: Literal["created", "session_started", "prompt_sent", "failed", "skipped"]
    errorMessage: NotRequired[str]
    cronJobId: str
    startedAt: int
    finishedAt: int | None
    triggerType: Literal["scheduled", "manual_run_now"]
    createdSessionUrl: str | None


class RunNowAnswer(TypedDict):
    """The run, and how many live sessions of the same mode are not of this job."""

    run: RunAnswer
    activeAgents: int


class Cron(Calling):
    """Cron."""

    async def get_cron_jobs(self) -> list[JobAnswer]:
        """Scheduled jobs."""
        found: list[JobAnswer] = await self.call("GET", "/cron/jobs")
        return found

    async def post_cron_jobs(self, body: JobBody) -> OneJob:
        """Make a scheduled job."""
        found: OneJob = await self.call("POST", "/cron/jobs", body=body)
        return found

    async def post_cron_preview(self, body: JobBody) -> PreviewAnswer:
        """When a job would fire next; nothing is made."""
        found: PreviewAnswer = await self.call("POST", "/cron/preview", body=body)
        return found

    async def get_cron_jobs_id(self, id: str) -> JobAnswer:
        """One scheduled job."""
        found: JobAnswer = await self.call("GET", f"/cron/jobs/{quoted(id)}")
        return found

    async def put_cron_jobs_id(self, id: str, body: JobPatch) -> OneJob:
        """Change any fields of a job; the merged job is checked."""
        found: OneJob = await self.call("PUT", f"/cron/jobs/{quoted(id)}", body=body)
        return found

    async def delete_cron_jobs_id(self, id: str) -> dict[str, Any]:
        """Forget a job and its runs."""
        found: dict[str, Any] = await self.call("DELETE", f"/cron/jobs/{quoted(id)}")
        return found

    async def put_cron_jobs_id_enabled(self, id: str, body: JobEnabledBody) -> OneJob:
        """Switch a job on or off."""
        found: OneJob = await self.call("PUT", f"/cron/jobs/{quoted(id)}/enabled", body=body)
        return found

    async def post_cron_jobs_id_run(self, id: str) -> RunNowAnswer:
        """Run a job now; its prompt is delivered after the answer."""
        found: RunNowAnswer = await self.call("POST", f"/cron/jobs/{quoted(id)}/run")
        return found

    async def get_cron_jobs_id_runs(self, id: str) -> list[RunAnswer]:
        """Runs of a job."""
        found: list[RunAnswer] = await self.call("GET", f"/cron/jobs/{quoted(id)}/runs")
        return found

    async def get_cron_runs(self) -> list[RunAnswer]:
        """Runs of all jobs."""
        found: list[RunAnswer] = await self.call("GET", "/cron/runs")
        return found
