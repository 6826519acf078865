"""GitLab by the program C{glab}.

Only C{glab api} is used: it prints what GitLab's REST interface (version 4) answers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from urllib.parse import quote, urlencode

from attrs import evolve
from pydantic import TypeAdapter

from tservice.review.forge.model import (
    LOG_BYTES,
    MAX_COMMENTS,
    MAX_FAILED_CHECKS,
    ChecksSummary,
    FailedCheck,
    ForgeBranch,
    ForgeCommand,
    ForgeComment,
    ForgeUnavailableError,
    PullRequest,
    PullRequestDraft,
    PullRequestState,
    RunForge,
    UnavailableReason,
)
from tservice.review.forge.parsing import ForgeRecord, cut_text, keep_web_address, parse_output

_LISTED = 20
_ENV = {
    "GLAB_CHECK_UPDATE": "false",
    "NO_PROMPT": "1",
    "GLAB_PAGER": "cat",
    "NO_COLOR": "1",
    # The variables would send a token to any host that a repository names.
    "GITLAB_TOKEN": "",
    "GITLAB_ACCESS_TOKEN": "",
    "OAUTH_TOKEN": "",
}
_STATES = {
    "opened": PullRequestState.OPEN,
    "locked": PullRequestState.OPEN,
    "merged": PullRequestState.MERGED,
    "closed": PullRequestState.CLOSED,
}
_PASSED = frozenset({"success", "skipped", "manual"})
_FAILED = frozenset({"failed", "canceled"})


class _Project(ForgeRecord):
    id: int
    default_branch: str | None = None


class _Listed(ForgeRecord):
    iid: int
    state: str


class _Pipeline(ForgeRecord):
    id: int
    status: str
    web_url: str | None = None


class _MergeRequest(ForgeRecord):
    iid: int
    title: str
    web_url: str
    state: str
    draft: bool = False
    target_branch: str
    sha: str | None = None
    head_pipeline: _Pipeline | None = None


class _Job(ForgeRecord):
    id: int | None = None
    name: str
    status: str
    web_url: str | None = None
    allow_failure: bool = False


class _Author(ForgeRecord):
    username: str = ""


class _User(ForgeRecord):
    id: int


class _Position(ForgeRecord):
    new_path: str | None = None
    old_path: str | None = None
    new_line: int | None = None
    old_line: int | None = None


class _Note(ForgeRecord):
    id: int
    body: str
    author: _Author | None = None
    system: bool = False
    resolved: bool = False
    position: _Position | None = None


class _Discussion(ForgeRecord):
    notes: list[_Note]


_PROJECT: TypeAdapter[_Project] = TypeAdapter(_Project)
_REQUESTS: TypeAdapter[list[_Listed]] = TypeAdapter(list[_Listed])
_REQUEST: TypeAdapter[_MergeRequest] = TypeAdapter(_MergeRequest)
_USERS: TypeAdapter[list[_User]] = TypeAdapter(list[_User])
_JOBS: TypeAdapter[list[_Job]] = TypeAdapter(list[_Job])
_DISCUSSIONS: TypeAdapter[list[_Discussion]] = TypeAdapter(list[_Discussion])


class GitLabForge:
    """GitLab; see L{tservice.review.forge.model.Forge}.  A pull request is a merge request."""

    name = "gitlab"
    program = "glab"

    async def read_pull_request(self, run: RunForge, branch: ForgeBranch) -> PullRequest | None:
        """See L{tservice.review.forge.model.Forge.read_pull_request}."""
        query = {"source_branch": branch.branch, "state": "all", "per_page": _LISTED}
        if branch.source != branch.project:
            source = await self._read_project(run, branch, branch.source)
            query["source_project_id"] = source.id
        top = f"{_get_path(branch.project)}/merge_requests"
        output = await run(_make_request(branch, f"{top}?{urlencode(query)}"))
        listed = parse_output(_REQUESTS, output)
        if not listed:
            return None
        newest = max(listed, key=lambda each: (each.state == "opened", each.iid))
        found = parse_output(_REQUEST, await run(_make_request(branch, f"{top}/{newest.iid}")))
        path = f"{top}/{newest.iid}/discussions?per_page={MAX_COMMENTS}"
        discussions = parse_output(_DISCUSSIONS, await run(_make_request(branch, path)))
        state = _STATES.get(found.state, PullRequestState.CLOSED)
        return PullRequest(
            number=found.iid,
            title=found.title,
            url=keep_web_address(found.web_url),
            state=PullRequestState.DRAFT if found.draft and found.state == "opened" else state,
            base=found.target_branch,
            commit=found.sha or "",
            checks=await self._read_checks(run, branch, found.head_pipeline),
            comments=_read_comments(discussions, keep_web_address(found.web_url)),
            has_more_comments=len(discussions) >= MAX_COMMENTS,
        )

    async def create_pull_request(
        self, run: RunForge, branch: ForgeBranch, draft: PullRequestDraft
    ) -> None:
        """See L{tservice.review.forge.model.Forge.create_pull_request}."""
        body: dict[str, object] = {
            "title": f"Draft: {draft.title}" if draft.is_draft else draft.title,
            "description": draft.body,
            "source_branch": branch.branch,
        }
        target = draft.base
        if target is None or branch.source != branch.project:
            project = await self._read_project(run, branch, branch.project)
            target = target or project.default_branch
            body["target_project_id"] = project.id
        body["target_branch"] = target
        if draft.reviewers:
            body["reviewer_ids"] = [
                await self._find_user(run, branch, name) for name in draft.reviewers
            ]
        await run(_make_request(branch, f"{_get_path(branch.source)}/merge_requests", body))

    async def read_log(self, run: RunForge, branch: ForgeBranch, job: str) -> bytes:
        """See L{tservice.review.forge.model.Forge.read_log}."""
        command = _make_request(branch, f"{_get_path(branch.project)}/jobs/{job}/trace")
        return await run(evolve(command, output_limit=LOG_BYTES))

    async def _find_user(self, run: RunForge, branch: ForgeBranch, name: str) -> int:
        path = f"users?{urlencode({'username': name})}"
        found = parse_output(_USERS, await run(_make_request(branch, path)))
        if not found:
            text = f"reviewers: {branch.host} has no user {name}"
            raise ForgeUnavailableError(UnavailableReason.FAILED, text)
        return found[0].id

    async def _read_project(self, run: RunForge, branch: ForgeBranch, project: str) -> _Project:
        return parse_output(_PROJECT, await run(_make_request(branch, _get_path(project))))

    async def _read_checks(
        self, run: RunForge, branch: ForgeBranch, pipeline: _Pipeline | None
    ) -> ChecksSummary:
        """Return the jobs of a pipeline."""
        if pipeline is None:
            return ChecksSummary()
        path = f"{_get_path(branch.project)}/pipelines/{pipeline.id}/jobs?per_page=100"
        jobs = parse_output(_JOBS, await run(_make_request(branch, path)))
        summary = _summarize_jobs(jobs)
        if pipeline.status in _FAILED and not summary.failed:
            # The pipeline failed without a job, for example because its file is wrong.
            failure = FailedCheck(name="pipeline", url=keep_web_address(pipeline.web_url))
            return evolve(summary, failed=1, failures=[failure])
        return summary


def _make_request(
    branch: ForgeBranch, path: str, body: dict[str, object] | None = None
) -> ForgeCommand:
    words = ["api", "--hostname", branch.host, path]
    if body is None:
        return ForgeCommand(words=words, env=_ENV)
    more = ["--method", "POST", "--header", "Content-Type: application/json", "--input", "-"]
    return ForgeCommand(words=[*words, *more], stdin=json.dumps(body).encode(), env=_ENV)


def _get_path(project: str) -> str:
    return f"projects/{quote(project, safe='')}"


def _summarize_jobs(jobs: Sequence[_Job]) -> ChecksSummary:
    failed = [job for job in jobs if job.status in _FAILED and not job.allow_failure]
    passed = sum(job.status in _PASSED or (job.status in _FAILED and job.allow_failure)
                 for job in jobs)  # fmt: skip
    return ChecksSummary(
        passed=passed,
        failed=len(failed),
        running=len(jobs) - passed - len(failed),
        failures=[
            FailedCheck(
                name=job.name,
                url=keep_web_address(job.web_url),
                job="" if job.id is None else str(job.id),
            )
            for job in failed[:MAX_FAILED_CHECKS]
        ],
    )


def _read_comments(discussions: Sequence[_Discussion], url: str) -> list[ForgeComment]:
    """Return the unresolved notes at lines, at most L{MAX_COMMENTS}."""
    notes = [
        note
        for discussion in discussions
        for note in discussion.notes
        if note.position is not None and not note.system and not note.resolved
    ]
    return [_read_note(note, url) for note in notes[:MAX_COMMENTS]]


def _read_note(note: _Note, url: str) -> ForgeComment:
    position = note.position or _Position()
    is_old = position.new_line is None and position.old_line is not None
    path = position.old_path if is_old else position.new_path
    return ForgeComment(
        id=str(note.id),
        author=note.author.username if note.author is not None else "",
        text=cut_text(note.body),
        path=path or position.old_path or "",
        line=position.old_line if is_old else position.new_line,
        is_old_side=is_old,
        url=f"{url}#note_{note.id}" if url else "",
    )
