"""C{cron ls}, C{cron run}: scheduled jobs (protocol-cron)."""

from __future__ import annotations

from typing import Any

from tservice.client.commands.context import Context
from tservice.client.link.naming import pick
from tservice.client.shell import ago, cell

HEAD = ("ID", "ENABLED", "NAME", "MODE", "SCHEDULE", "NEXT", "LAST", "STATUS")
SHORT = 8


def ls(context: Context) -> int:
    """List the jobs."""
    found = _jobs(context)
    if context.words.json:
        context.shell.say_json(found)
        return 0
    now = context.shell.now()
    rows = [
        (job["id"][:SHORT], "yes" if job["enabled"] else "no", cell(job, "name"),
         cell(job, "agentType"), cell(job, "scheduleType"), ago(now, job["nextRunAt"]),
         ago(now, job["lastRunAt"]), cell(job, "lastStatus"))
        for job in found
    ]  # fmt: skip
    context.shell.say_table([HEAD, *rows])
    return 0


def run(context: Context) -> int:
    """Run a job now and print the id of its session."""
    job = pick(_jobs(context), context.words.job, "job")
    found = context.caller.call("POST", f"/cron/jobs/{job['id']}/run", {})
    context.show(found, cell(found["run"], "sessionId"))
    return 0


def _jobs(context: Context) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = context.caller.call("GET", "/cron/jobs")
    return found
