"""The user's own git, with the hooks, identity and signing that it has in a location.

This is for actions of a person, such as a commit.  Reading a repository never uses it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial

from attrs import frozen
from twisted.internet.defer import Deferred
from zope.interface import implementer

from tservice.core.kernel.errors import make_failure_error
from tservice.core.locations.location import Location
from tservice.core.locations.location_registry import LocationRegistry
from tservice.core.logs.redact import SecretRedactor
from tservice.core.process.child import ChildCommand, ChildResult, ChildRunner
from tservice.core.workers.thread_runners import RunInLocation
from tservice.git.interfaces import (
    IUserGit,
    UserGitResult,
    UserProgramCommand,
    UserProgramResult,
)
from tservice.git.process.error_text import hide_credentials
from tservice.git.process.runner import GitError, OutputCollector, wait_or_stop
from tservice.git.service import GitWorkspace

SECONDS = 600.0
"""Time limit of one command, which may run hooks and use the network."""
OUTPUT_BYTES = 64 * 1024
_FIXED = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "false",
    "GIT_SEQUENCE_EDITOR": "false",
    "GIT_PAGER": "cat",
    "GIT_LITERAL_PATHSPECS": "1",
    "LC_ALL": "C.UTF-8",
}
"""Variables that keep git from waiting for a person, and from reading paths as patterns."""


@implementer(IUserGit)
class UserGit:
    """Runner of the user's own git in the workspaces of sessions; see
    L{tservice.git.interfaces.IUserGit}.

    L{stop} kills its processes.
    """

    def __init__(
        self,
        *,
        children: ChildRunner,
        places: LocationRegistry,
        in_place: RunInLocation,
        workspace_of: Callable[[str], GitWorkspace],
        redactor: SecretRedactor,
    ) -> None:
        self._children, self._places, self._in_place = children, places, in_place
        self._workspace_of, self._redactor = workspace_of, redactor

    @property
    def running(self) -> int:
        """Number of running processes."""
        return self._children.running

    async def run_user_git(
        self,
        session_id: str,
        repo: str,
        words: Sequence[str | bytes],
        stdin: bytes,
        reauthorize: Callable[[], object],
    ) -> UserGitResult:
        """See L{tservice.git.interfaces.IUserGit.run_user_git}."""
        workspace = self._workspace_of(session_id)
        place = await self._find_place(workspace)
        if place.unreadable_reason is not None:
            raise make_failure_error(f"no commits in {place.unreadable_reason} sessions")
        find = partial(_find_start, place, workspace.folder, repo)
        start = await self._in_place(place, find, workspace.folder, workspace.owner)
        if start is None:
            raise make_failure_error("git is not installed")
        argv = [start.program, "-C", start.folder, *map(os.fsdecode, words)]
        output = OutputCollector(OUTPUT_BYTES)
        reauthorize()
        command = ChildCommand(
            argv=place.build_command(argv),
            env={**place.build_environment(), **_FIXED, "PATH": start.path},
            folder=None,
            user=place.user if place.is_isolated else None,
            stdin=stdin,
            seconds=SECONDS,
        )
        try:
            child = self._children.start(command, output.add_piece, output.add_piece)
            ending = await wait_or_stop(child)
        except (OSError, GitError) as error:
            raise make_failure_error(f"git could not be started: {error}") from None
        text = output.get_bytes().decode("utf-8", "replace").strip()
        shown = hide_credentials(self._redactor, text)
        if ending.is_timed_out:
            shown = f"{shown}\ngit timed out after {SECONDS:g} s".strip()
        return UserGitResult(succeeded=ending.status == 0, output=shown)

    async def run_user_program(
        self,
        session_id: str,
        wanted: UserProgramCommand,
        reauthorize: Callable[[], object],
    ) -> UserProgramResult | None:
        """See L{tservice.git.interfaces.IUserGit.run_user_program}."""
        workspace = self._workspace_of(session_id)
        place = await self._find_place(workspace)
        if place.unreadable_reason is not None:
            return None
        find = partial(_find_program, place, wanted.program)
        found = await self._in_place(place, find, workspace.folder, workspace.owner)
        if found is None:
            return None
        reauthorize()
        command = ChildCommand(
            argv=place.build_command([found.program, *wanted.words]),
            env={**place.build_environment(), **wanted.env, "PATH": found.path},
            user=place.user if place.is_isolated else None,
            stdin=wanted.stdin,
            seconds=wanted.seconds,
            output_limit=wanted.output_limit,
        )
        try:
            ending = await self._children.run(command)
        except OSError as error:
            message = f"{wanted.program} could not be started: {error.strerror or error}"
            raise make_failure_error(message) from None
        return UserProgramResult(
            status=ending.status,
            output=ending.output,
            errors=hide_credentials(self._redactor, _describe_ending(ending, wanted)),
        )

    async def _find_place(self, workspace: GitWorkspace) -> Location:
        await self._places.refresh_location(workspace.place)
        return self._places.find_earlier_location(workspace.place)

    def stop(self) -> Deferred[None]:
        """Kill all processes.  The result fires after the last one has ended."""
        return self._children.stop()


def _describe_ending(ending: ChildResult, wanted: UserProgramCommand) -> str:
    """Return the error text of a program, or the limit at which it was killed."""
    if ending.is_timed_out:
        return f"{wanted.program} timed out after {wanted.seconds:g} s"
    if ending.is_truncated:
        return f"{wanted.program} printed more than {wanted.output_limit} bytes"
    return ending.error_text


@frozen
class _ProgramStart:
    """Program, and the C{PATH} that it gets."""

    program: str
    path: str


def _find_program(place: Location, name: str) -> _ProgramStart | None:
    """Return where a program is in C{place}; C{None} if it is not installed.  Blocks."""
    program = place.find_program((name,))
    return None if program is None else _ProgramStart(str(program), place.get_search_path())


@frozen
class _GitStart:
    """Program of git, the folder that it works in, and its C{PATH}."""

    program: str
    folder: str
    path: str


def _find_start(place: Location, workspace: str, repo: str) -> _GitStart | None:
    """Return what git needs to start; C{None} if there is no git.  Blocks."""
    program = place.find_program(("git",))
    if program is None:
        return None
    folder = os.path.realpath(os.path.join(workspace, repo))
    return _GitStart(str(program), folder, place.get_search_path())
