"""The user's own git, with the hooks, identity and signing that it has in a location.

This is for actions of a person, such as a commit.  Reading a repository never uses it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from attrs import frozen
from twisted.internet.defer import Deferred
from zope.interface import implementer

from tservice.core.callers.caller import Caller
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
from tservice.git.location_shell.shell_runner import (
    LocationShellRunner,
    ShellOutput,
    encode_environment,
)
from tservice.git.model import ERROR_LIMIT
from tservice.git.process.error_text import hide_credentials
from tservice.git.process.runner import GitError, OutputCollector, wait_or_stop
from tservice.git.service import GitWorkspace
from tservice.mux.remote.shell_quoting import (
    build_export_commands,
    join_shell_commands,
    quote_words,
)

SECONDS = 600.0
"""Time limit of one command, which may run hooks and use the network."""
OUTPUT_BYTES = 64 * 1024
_NOT_FOUND = 127
"""Exit status of a shell for a program that is not installed."""
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
        shells: LocationShellRunner,
    ) -> None:
        """@param shells: reaches into containers and remote hosts; its owner stops it."""
        self._shells = shells
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
        caller: Caller,
    ) -> UserGitResult:
        """See L{tservice.git.interfaces.IUserGit.run_user_git}."""
        workspace = self._workspace_of(session_id)
        place = await self._find_place(workspace)
        if place.find_shell is not None:
            check = caller.reauthorize
            return await self._run_git_in_shell(place, workspace, repo, words, stdin, check)
        if place.unreadable_reason is not None:
            raise make_failure_error(f"no commits in {place.unreadable_reason} sessions")
        find = partial(_find_start, place, workspace.folder, repo)
        start = await self._in_place(place, find, workspace.folder, workspace.owner)
        if start is None:
            raise make_failure_error("git is not installed")
        argv = [start.program, "-C", start.folder, *map(os.fsdecode, words)]
        output = OutputCollector(OUTPUT_BYTES)
        caller.reauthorize()
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
        if place.find_shell is not None:
            return await self._run_program_in_shell(place, wanted, reauthorize)
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

    async def _run_git_in_shell(
        self,
        place: Location,
        workspace: GitWorkspace,
        repo: str,
        words: Sequence[str | bytes],
        stdin: bytes,
        reauthorize: Callable[[], object],
    ) -> UserGitResult:
        folder = os.fsencode(os.path.join(place.path_inside(workspace.folder), repo))
        argv = [b"git", b"-C", folder, *map(os.fsencode, words)]
        # Hooks and git's own texts go to both streams.
        program = _make_shell_text(place, _FIXED, argv, b" 2>&1")
        done = await self._run_shell(place, program, stdin, SECONDS, OUTPUT_BYTES, reauthorize)
        text = done.output.decode("utf-8", "replace").strip()
        shown = hide_credentials(self._redactor, text)
        if done.is_timed_out:
            shown = f"{shown}\ngit timed out after {SECONDS:g} s".strip()
        if done.status == _NOT_FOUND:
            raise make_failure_error("git is not installed")
        return UserGitResult(succeeded=done.status == 0, output=shown)

    async def _run_program_in_shell(
        self, place: Location, wanted: UserProgramCommand, reauthorize: Callable[[], object]
    ) -> UserProgramResult | None:
        argv = [os.fsencode(word) for word in (wanted.program, *wanted.words)]
        program = _make_shell_text(place, wanted.env, argv)
        done = await self._run_shell(
            place, program, wanted.stdin, wanted.seconds, wanted.output_limit, reauthorize
        )
        if done.status == _NOT_FOUND:
            return None
        errors = done.errors
        if done.is_timed_out:
            errors = f"{wanted.program} timed out after {wanted.seconds:g} s"
        elif done.is_cut:
            errors = f"{wanted.program} printed more than {wanted.output_limit} bytes"
        return UserProgramResult(
            status=None if done.is_cut else done.status,
            output=done.output,
            errors=hide_credentials(self._redactor, errors),
        )

    async def _run_shell(
        self,
        place: Location,
        program: bytes,
        stdin: bytes,
        seconds: float,
        limit: int,
        reauthorize: Callable[[], object],
    ) -> ShellOutput:
        try:
            return await self._shells.run(
                place, program, stdin, limit=limit, seconds=seconds, before=reauthorize
            )
        except GitError as error:
            raise make_failure_error(str(error)[:ERROR_LIMIT]) from None

    async def _find_place(self, workspace: GitWorkspace) -> Location:
        await self._places.refresh_if_reachable(workspace.place)
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


def _make_shell_text(
    place: Location, env: Mapping[str, str], argv: Sequence[bytes], redirection: bytes = b""
) -> bytes:
    """Return shell text that runs a program with the variables of the user in C{place}."""
    variables = encode_environment({**place.build_environment(), **env})
    return join_shell_commands(
        build_export_commands(variables), b"exec " + quote_words(*argv) + redirection
    )


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
