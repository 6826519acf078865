"""GitHub by the program C{gh}.

Every command names its repository, so that C{gh} reads no folder and starts no git.  Seen with gh
2.23; the fields of C{gh pr list --json} and of the REST interface are stable.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from attrs import evolve
from pydantic import Field, TypeAdapter

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
    ReviewDecision,
    RunForge,
)
from tservice.review.forge.parsing import ForgeRecord, cut_text, keep_web_address, parse_output

_LISTED = 20
"""Maximum number of pull requests with a branch of the same name that are read."""
_FIELDS = (
    "number,title,url,state,isDraft,baseRefName,headRefOid,headRepositoryOwner,"
    "reviewDecision,statusCheckRollup"
)
_ENV = {
    "GH_PROMPT_DISABLED": "1",
    "GH_NO_UPDATE_NOTIFIER": "1",
    "GH_PAGER": "cat",
    "NO_COLOR": "1",
    "CLICOLOR_FORCE": "0",
    # The variables would send a token to any host that a repository names.
    "GH_ENTERPRISE_TOKEN": "",
    "GITHUB_ENTERPRISE_TOKEN": "",
}
_PASSED = frozenset({"SUCCESS", "NEUTRAL", "SKIPPED"})
_FAILED = frozenset(
    {"ERROR", "FAILURE", "CANCELLED", "TIMED_OUT", "ACTION_REQUIRED", "STARTUP_FAILURE"}
)
_JOB = re.compile(r"https?://[^/]+/(?P<project>[^/]+/[^/]+)/actions/runs/\d+/job/(?P<job>\d+)")
"""Address of the log of a job of GitHub Actions."""
_TIME = re.compile(rb"^\xef?\xbb?\xbf?\d{4}-\d\d-\d\dT[\d:.]+Z ", re.MULTILINE)
"""Time at the beginning of each line of a log."""
_ERROR = b"##[error]"
"""Mark of the lines of a log that say why a job failed; cleaning up follows."""
_DECISIONS = {
    "APPROVED": ReviewDecision.APPROVED,
    "CHANGES_REQUESTED": ReviewDecision.CHANGES_REQUESTED,
    "REVIEW_REQUIRED": ReviewDecision.REQUIRED,
}


class _Owner(ForgeRecord):
    login: str = ""


class _Check(ForgeRecord):
    """Check run, or status of a commit, which has other names for the same."""

    name: str | None = None
    context: str | None = None
    status: str | None = None
    conclusion: str | None = None
    state: str | None = None
    details_url: str | None = Field(default=None, alias="detailsUrl")
    target_url: str | None = Field(default=None, alias="targetUrl")

    @property
    def outcome(self) -> str:
        return self.state or self.conclusion or self.status or ""


class _PullRequest(ForgeRecord):
    number: int
    title: str
    url: str
    state: str
    is_draft: bool = Field(alias="isDraft")
    base: str = Field(alias="baseRefName")
    commit: str = Field(alias="headRefOid")
    owner: _Owner | None = Field(alias="headRepositoryOwner")
    decision: str | None = Field(default=None, alias="reviewDecision")
    checks: list[_Check] | None = Field(default=None, alias="statusCheckRollup")


class _Comment(ForgeRecord):
    id: int
    user: _Owner | None = None
    body: str
    path: str
    line: int | None = None
    side: str | None = None
    html_url: str | None = None


class _Repository(ForgeRecord):
    default_branch: str


class _Created(ForgeRecord):
    number: int


_PULL_REQUESTS: TypeAdapter[list[_PullRequest]] = TypeAdapter(list[_PullRequest])
_COMMENTS: TypeAdapter[list[_Comment]] = TypeAdapter(list[_Comment])
_CREATED: TypeAdapter[_Created] = TypeAdapter(_Created)
_REPOSITORY: TypeAdapter[_Repository] = TypeAdapter(_Repository)


class GitHubForge:
    """GitHub, and GitHub Enterprise; see L{tservice.review.forge.model.Forge}."""

    name = "github"
    program = "gh"

    async def read_pull_request(self, run: RunForge, branch: ForgeBranch) -> PullRequest | None:
        """See L{tservice.review.forge.model.Forge.read_pull_request}."""
        words = [
            "pr", "list", "--repo", f"{branch.host}/{branch.project}", f"--head={branch.branch}",
            "--state", "all", "--limit", str(_LISTED), "--json", _FIELDS,
        ]  # fmt: skip
        listed = parse_output(_PULL_REQUESTS, await run(_make_command(words)))
        found = _choose_pull_request(listed, branch)
        if found is None:
            return None
        path = f"repos/{branch.project}/pulls/{found.number}/comments?per_page={MAX_COMMENTS}"
        comments = parse_output(_COMMENTS, await run(_make_request(branch, path)))
        return evolve(
            _read_pull_request(found, branch),
            comments=[_read_comment(each) for each in comments],
            has_more_comments=len(comments) >= MAX_COMMENTS,
        )

    async def create_pull_request(
        self, run: RunForge, branch: ForgeBranch, draft: PullRequestDraft
    ) -> None:
        """See L{tservice.review.forge.model.Forge.create_pull_request}."""
        base = draft.base
        if base is None:
            output = await run(_make_request(branch, f"repos/{branch.project}"))
            base = parse_output(_REPOSITORY, output).default_branch
        head = branch.branch
        if branch.source != branch.project:
            head = f"{_get_owner(branch.source)}:{head}"
        body = {
            "title": draft.title, "body": draft.body, "draft": draft.is_draft,
            "head": head, "base": base,
        }  # fmt: skip
        top = f"repos/{branch.project}/pulls"
        output = await run(_make_request(branch, top, body))
        if draft.reviewers:
            made = parse_output(_CREATED, output)
            path = f"{top}/{made.number}/requested_reviewers"
            try:
                await run(_make_request(branch, path, _sort_reviewers(draft.reviewers)))
            except ForgeUnavailableError as error:
                text = f"the pull request was opened, but without reviewers: {error.message}"
                raise ForgeUnavailableError(error.reason, text) from None

    async def read_log(self, run: RunForge, branch: ForgeBranch, job: str) -> bytes:
        """See L{tservice.review.forge.model.Forge.read_log}."""
        command = _make_request(branch, f"repos/{branch.project}/actions/jobs/{job}/logs")
        log = _TIME.sub(b"", await run(evolve(command, output_limit=LOG_BYTES)))
        end = log.find(b"\n", log.rfind(_ERROR)) if _ERROR in log else -1
        return log if end < 0 else log[:end]


def _make_command(words: Sequence[str], stdin: bytes = b"") -> ForgeCommand:
    return ForgeCommand(words=words, stdin=stdin, env=_ENV)


def _make_request(
    branch: ForgeBranch, path: str, body: dict[str, object] | None = None
) -> ForgeCommand:
    words = ["api", "--hostname", branch.host, path]
    if body is None:
        return _make_command(words)
    return _make_command([*words, "--method", "POST", "--input", "-"], json.dumps(body).encode())


def _sort_reviewers(names: Sequence[str]) -> dict[str, object]:
    teams = [name.partition("/")[2] for name in names if "/" in name]
    return {"reviewers": [name for name in names if "/" not in name], "team_reviewers": teams}


def _find_job(check: _Check, branch: ForgeBranch) -> str:
    """Return the number of a check's job; empty if GitHub Actions did not run it."""
    found = _JOB.match(check.details_url or "")
    is_own = found is not None and found["project"].casefold() == branch.project.casefold()
    return found["job"] if found is not None and is_own else ""


def _get_owner(project: str) -> str:
    return project.partition("/")[0]


def _choose_pull_request(
    listed: Iterable[_PullRequest], branch: ForgeBranch
) -> _PullRequest | None:
    """Return the open one of this branch, else the newest; other forks may have the same name."""
    owner = _get_owner(branch.source).casefold()
    own = [each for each in listed if each.owner is None or each.owner.login.casefold() == owner]
    newest = sorted(own, key=lambda each: (each.state == "OPEN", each.number), reverse=True)
    return newest[0] if newest else None


def _read_pull_request(found: _PullRequest, branch: ForgeBranch) -> PullRequest:
    if found.state == "OPEN":
        state = PullRequestState.DRAFT if found.is_draft else PullRequestState.OPEN
    else:
        merged = found.state == "MERGED"
        state = PullRequestState.MERGED if merged else PullRequestState.CLOSED
    return PullRequest(
        number=found.number,
        title=found.title,
        url=keep_web_address(found.url),
        state=state,
        base=found.base,
        commit=found.commit,
        checks=_summarize_checks(found.checks or (), branch),
        review=_DECISIONS.get(found.decision or "", ReviewDecision.NONE),
    )


def _summarize_checks(checks: Sequence[_Check], branch: ForgeBranch) -> ChecksSummary:
    failed = [check for check in checks if check.outcome in _FAILED]
    passed = sum(check.outcome in _PASSED for check in checks)
    return ChecksSummary(
        passed=passed,
        failed=len(failed),
        running=len(checks) - passed - len(failed),
        failures=[
            FailedCheck(
                name=check.name or check.context or "check",
                url=keep_web_address(check.details_url or check.target_url),
                job=_find_job(check, branch),
            )
            for check in failed[:MAX_FAILED_CHECKS]
        ],
    )


def _read_comment(comment: _Comment) -> ForgeComment:
    return ForgeComment(
        id=str(comment.id),
        author=comment.user.login if comment.user is not None else "",
        text=cut_text(comment.body),
        path=comment.path,
        line=comment.line,
        is_old_side=comment.side == "LEFT",
        url=keep_web_address(comment.html_url),
    )
