"""Choice of the forge's project for the branch that is checked out."""

from __future__ import annotations

import re

from attrs import frozen

from tservice.core.kernel.errors import ServiceError
from tservice.git.interfaces import WorkingCopy
from tservice.review.forge.model import ForgeBranch, ForgeUnavailableError, UnavailableReason

_LIMIT = 256 * 1024
_SCP_ADDRESS = re.compile(r"(?:[^/@:]+@)?(?P<host>[\w.-]+):(?P<path>[^/].*)")
_URL = re.compile(r"(?:https?|ssh|git)://(?:[^/@]*@)?(?P<host>[\w.-]+)(?::\d+)?/(?P<path>.+)")
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*")
_PROJECT = re.compile(r"[\w.-]+(?:/[\w.-]+)+", re.ASCII)
_PREFERRED = ("upstream", "origin")
"""Remotes that get pull requests, in this order, unless C{gh} was told another one."""


@frozen(kw_only=True)
class RemoteProject:
    """Host and project that the address of a remote names."""

    host: str
    project: str


async def find_forge_branch(copy: WorkingCopy) -> ForgeBranch:
    """Return the branch that is checked out, with its projects.

    @raise ForgeUnavailableError: no branch is checked out, or no remote is on a forge.
    """
    branch = (await _read(copy, ("symbolic-ref", "--quiet", "--short", "HEAD"))).strip()
    if not branch:
        raise ForgeUnavailableError(UnavailableReason.NO_BRANCH)
    words = ("config", "--includes", "-z", "--get-regexp", r"^remote\..*\.(url|gh-resolved)$")
    remotes = _parse_settings(await _read(copy, words))
    words = ("config", "--includes", "-z", "--get-regexp", _make_branch_pattern(branch))
    settings = _parse_settings(await _read(copy, words))
    return choose_projects(branch, remotes, settings)


def choose_projects(branch: str, remotes: dict[str, str], settings: dict[str, str]) -> ForgeBranch:
    """Return the projects of a branch.

    @param remotes: the settings C{remote.NAME.url} and C{remote.NAME.gh-resolved}.
    @param settings: the settings of the branch.
    @raise ForgeUnavailableError: no remote is on a forge.
    """
    known = {
        name.removeprefix("remote.").removesuffix(".url"): project
        for name, url in remotes.items()
        if name.endswith(".url") and (project := parse_address(url)) is not None
    }
    own = f"branch.{branch}"
    pushed = settings.get(f"{own}.pushremote") or settings.get(f"{own}.remote") or "origin"
    resolved = [
        name.removeprefix("remote.").removesuffix(".gh-resolved")
        for name, value in remotes.items()
        if name.endswith(".gh-resolved") and value == "base"
    ]
    target = next((known[each] for each in (*resolved, *_PREFERRED, *known) if each in known), None)
    if target is None:
        raise ForgeUnavailableError(UnavailableReason.NO_REMOTE)
    source = known.get(pushed, target)
    if source.host != target.host:
        target = source
    # The upstream branch is often the one that the branch began at, so its name says nothing.
    return ForgeBranch(
        host=target.host, project=target.project, source=source.project, branch=branch
    )


def parse_address(url: str) -> RemoteProject | None:
    """Return the host and project of a remote's address; C{None} if it is not one of a forge."""
    found = _URL.fullmatch(url) if "://" in url else _SCP_ADDRESS.fullmatch(url)
    if found is None:
        return None
    host = found["host"].lower()
    host = "github.com" if host == "ssh.github.com" else host
    project = found["path"].strip("/").removesuffix(".git")
    parts = project.split("/")
    if not _HOST.fullmatch(host) or not _PROJECT.fullmatch(project) or {".", ".."} & {*parts}:
        return None
    return RemoteProject(host=host, project=project)


def _make_branch_pattern(branch: str) -> str:
    """Return a pattern of POSIX that matches the settings of a branch."""
    escaped = re.sub(r"([][\\.^$*+?(){}|])", r"\\\1", branch)
    return rf"^branch\.{escaped}\.(remote|pushremote)$"


def _parse_settings(output: str) -> dict[str, str]:
    """Return the settings by name; the first address of a remote is the one that is fetched."""
    found: dict[str, str] = {}
    for each in output.split("\0"):
        name, _, value = each.partition("\n")
        if name:
            found.setdefault(name, value)
    return found


async def _read(copy: WorkingCopy, words: tuple[str, ...]) -> str:
    """Return git's output, which is empty if git found nothing and therefore failed."""
    try:
        output, _ = await copy.run_git(words, _LIMIT)
    except ServiceError:
        return ""
    return output.decode("utf-8", "replace")
