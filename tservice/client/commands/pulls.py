"""C{pr show}, C{create}, C{log} and C{mend}: pull requests of sessions (protocol-pull-request)."""

from __future__ import annotations

import uuid
from typing import Any

from tservice.client.commands.context import CommandContext
from tservice.client.errors import Unusable
from tservice.client.link.caller import build_session_path
from tservice.client.terminal.safe import safe_line, safe_text
from tservice.client.wait_limits import GIT_MS

_REASONS = {
    "no-branch": "no branch is checked out",
    "no-remote": "no remote is on GitHub or GitLab",
    "no-grant": "it needs the grant to bypass permissions",
    "not-installed": "install gh or glab where the session runs",
    "not-signed-in": "sign in with gh auth login or glab auth login",
}


def show(context: CommandContext) -> int:
    """Print the state of the pull request, its failed checks and the comments of people."""
    found = _send(context, "GET", "", query={"repo": context.words.repo})
    if context.words.json:
        context.shell.print_json(found)
    else:
        _print_state(context, found)
    return 0


def create(context: CommandContext) -> int:
    """Push the branch, open its pull request and print the address."""
    words = context.words
    suggested: dict[str, Any] = {}
    if words.title is None or words.body is None:
        suggested = _send(context, "GET", "/suggestion", query={"repo": words.repo})
    title = suggested["title"] if words.title is None else words.title
    if not title.strip():
        raise Unusable("--title: nothing can be suggested, so give one")
    path = build_session_path(context.find_session()["id"], "/changes/push")
    context.caller.send_request(
        "POST", path, {"repo": words.repo, "setUpstream": True}, wait_ms=GIT_MS
    )
    body = {
        "repo": words.repo,
        "title": title,
        "body": suggested["body"] if words.body is None else words.body,
        "draft": words.draft,
        "base": words.base,
        "reviewers": [name.strip() for name in (words.reviewers or "").split(",") if name.strip()],
    }
    found = _send(context, "POST", "", body)
    context.print_result(found, safe_line(found.get("pullRequest", {}).get("url", "")))
    return 0


def log(context: CommandContext) -> int:
    """Print the end of the log of a failed check."""
    words = context.words
    found = _send(context, "GET", "", query={"repo": words.repo})
    failures = found.get("pullRequest", {}).get("checks", {}).get("failures", [])
    job = next(
        (each["job"] for each in failures if each["name"] == words.check and "job" in each), None
    )
    if job is None:
        raise Unusable("CHECK: no failed check with this name has a log that can be read")
    text = _send(context, "GET", "/log", query={"repo": words.repo, "job": job})["log"]
    context.shell.print_line(safe_text(text))
    return 0


def mend(context: CommandContext) -> int:
    """Send the failed checks to the agent and print their names."""
    words = context.words
    body = {
        "repo": words.repo,
        "requestId": uuid.uuid4().hex,
        "evenWhileBusy": words.even_while_busy,
    }
    found = _send(context, "POST", "/mend", body)
    context.print_result(found, "\n".join(safe_line(name) for name in found["checks"]))
    return 0


def _send(
    context: CommandContext, method: str, part: str, body: object = None, query: Any = None
) -> dict[str, Any]:
    path = build_session_path(context.find_session()["id"], f"/changes/pull-request{part}")
    found: dict[str, Any] = context.caller.send_request(
        method, path, body, query=query, wait_ms=GIT_MS
    )
    return found


def _print_state(context: CommandContext, found: dict[str, Any]) -> None:
    pull = found.get("pullRequest")
    if pull is None:
        reason = found.get("reason")
        known = _REASONS.get(reason or "", found.get("message", ""))
        said = "The branch has no pull request" if reason is None else f"Unknown: {known}"
        context.shell.print_line(safe_line(said))
        return
    checks = pull["checks"]
    counts = ", ".join(
        f"{checks[name]} {name}" for name in ("passed", "running", "failed") if checks[name]
    )
    parts = [f"#{pull['number']}", pull["state"], counts, pull["title"], pull["url"]]
    context.shell.print_line(safe_line("  ".join(part for part in parts if part)))
    for each in checks["failures"]:
        context.shell.print_line(safe_line(f"failed  {each['name']}  {each['url']}".rstrip()))
    for each in pull["comments"]:
        place = f"{each['path']}:{each['line']}" if "line" in each else each["path"]
        context.shell.print_line(safe_line(f"comment  {place}  {each['author']}: {each['text']}"))
