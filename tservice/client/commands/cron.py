"""C{cron ls}, C{cron run}: scheduled jobs (protocol-cron)."""

from __future__ import annotations

from typing import Any

from tservice.client.commands.context import CommandContext
from tservice.client.link.naming import pick_record
from tservice.client.shell import format_ago, format_cell

HEAD = ("ID", "ENABLED", "NAME", "MODE", "SCHEDULE", "NEXT", "LAST", "STATUS")
SHORT = 8


def ls(context: CommandContext) -> int:
    """List the jobs."""
    found = _fetch_jobs(context)
    if context.words.json:
        context.shell.print_json(found)
        return 0
    now = context.shell.now()
    rows = [
        (job["id"][:SHORT], "yes" if job["enabled"] else "no", format_cell(job, "name"),
         format_cell(job, "agentType"), format_cell(job, "scheduleType"),
         format_ago(now, job["nextRunAt"]),
         format_ago(now, job["lastRunAt"]), format_cell(job, "lastStatus"))
        for job in found
    ]  # fmt: skip
    context.shell.print_table([HEAD, *rows])
    return 0


def run(context: CommandContext) -> int:
    """Run a job now and print the id of its session."""
    job = pick_record(_fetch_jobs(context), context.words.job, "job")
    found = context.caller.send_request("POST", f"/cron/jobs/{job['id']}/run", {})
    context.print_result(found, format_cell(found["run"], "sessionId"))
    return 0


def _fetch_jobs(context: CommandContext) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = context.caller.send_request("GET", "/cron/jobs")
    return found
