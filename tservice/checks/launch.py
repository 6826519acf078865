"""Commands of checks in the location of their session (protocol-checks)."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from functools import partial

from attrs import frozen

from tservice.checks.model import CaseChecks, Check
from tservice.core.kernel.errors import ServiceError
from tservice.core.locations.location import Location
from tservice.core.locations.location_registry import LocationRegistry
from tservice.core.locations.workspace_bounds import WorkspaceBounds
from tservice.core.process.child import ChildCommand
from tservice.core.process.environment_handover import make_restoring_command, rename_variables
from tservice.core.workers.thread_runners import RunInLocation
from tservice.sessions.interfaces import ISessions, Session

NICENESS = 10
"""Number that is added to the niceness of the service."""
TERM_SECONDS = 12.0
"""Seconds between the request to end a check and SIGKILL for its supervisor, which needs less."""

_SHELL = "/bin/sh"
_START = 'exec 2>&1; cd -- "$1" || exit 126; exec /bin/sh -c "$2"'
_FIXED = {"TERM": "dumb", "GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "false", "GIT_PAGER": "cat",
          "PAGER": "cat"}  # fmt: skip
"""Variables that keep programs from drawing on a terminal and from waiting for a person."""


class ChecksUnavailable(Exception):
    """Raised if no check can run in a session; the text is the reason for a person."""


@frozen(kw_only=True)
class CheckPlace:
    """Location and folder in which the checks of a session run.

    @ivar search_path: the C{PATH} of the commands.
    """

    location: Location
    folder: str
    search_path: str

    def build_environment(self) -> dict[str, str]:
        """Return the variables of the commands."""
        return {**self.location.build_environment(), **_FIXED, "PATH": self.search_path}

    def build_command(self, check: Check) -> ChildCommand:
        """Return the command that runs a check: no terminal, no input, low priority.

        As another OS user it gets that user's environment, which other users cannot read.
        """
        argv: tuple[str, ...] = (_SHELL, "-c", _START, "check", self.folder, check.command)
        env = self.build_environment()
        user = self.location.user if self.location.is_isolated else None
        if user is not None:
            argv, env = make_restoring_command(env, argv), rename_variables(env)
        return ChildCommand(
            argv=argv, env=env, user=user, is_contained=True, niceness=NICENESS,
            seconds=check.timeout_seconds, term_seconds=TERM_SECONDS,
        )  # fmt: skip


class CheckPlaces:
    """Finder of the location and folder in which the checks of a session run."""

    def __init__(
        self,
        *,
        sessions: ISessions,
        locations: LocationRegistry,
        bounds: WorkspaceBounds,
        in_location: RunInLocation,
        check_file: Callable[[Session, CaseChecks], Awaitable[None]],
    ) -> None:
        """@param check_file: raises L{ChecksUnavailable} if the file that has the checks was
        changed.
        """
        self._check_file = check_file
        self._sessions, self._locations = sessions, locations
        self._bounds, self._in_location = bounds, in_location

    async def find_place(self, session: Session, checks: CaseChecks) -> CheckPlace:
        """Return the place for the checks of a session.

        @raise ChecksUnavailable: no check can run there, or the owner may not run commands now.
        """
        try:
            return await self._find_place(session, checks)
        except (ServiceError, OSError) as error:
            raise ChecksUnavailable(_describe_error(error)) from None

    async def _find_place(self, session: Session, checks: CaseChecks) -> CheckPlace:
        self._check_owner(session)
        location_id = session.location_id
        self._bounds.check_os_user(session.owner, location_id)
        await self._locations.refresh_if_reachable(location_id)
        place = self._locations.find_earlier_location(location_id)
        folder = choose_folder(session.working_dir, checks.path)
        if place.find_shell is not None:
            folder, path = place.path_inside(folder), place.get_search_path()
        elif not location_id.is_on_this_machine:
            raise ChecksUnavailable(f"{place.title} runs no commands")
        else:
            find = partial(_find_start, place, folder)
            path = await self._in_location(place, find, folder, session.owner)
        if checks.file_hash:
            await self._check_file(session, checks)
        self._check_owner(session)
        return CheckPlace(location=place, folder=folder, search_path=path)

    def _check_owner(self, session: Session) -> None:
        """Check that the owner could run these commands in a shell of the session's location.

        @raise ChecksUnavailable: the account is gone or disabled, or lost the grant.
        """
        self._sessions.check_sender(session.id)
        if not self._bounds.multiuser or session.owner is None:
            return
        account = self._bounds.account(session.owner)
        if account is None or not account.may_bypass_permissions:
            raise ChecksUnavailable("checks need the grant to bypass permissions")


def choose_folder(working_dir: str, case_path: str) -> str:
    """Return the folder in which checks run: that of the case, if the session works in it."""
    is_inside = working_dir == case_path or working_dir.startswith(f"{case_path}/")
    return case_path if is_inside else working_dir


def _find_start(place: Location, folder: str) -> str:
    """Return the C{PATH} for commands in C{folder}.  Blocks.

    @raise OSError: the folder cannot be entered.
    """
    if not os.path.isdir(folder):
        raise FileNotFoundError(2, "folder not found", folder)
    return place.get_search_path()


def _describe_error(error: ServiceError | OSError) -> str:
    if isinstance(error, ServiceError):
        return error.message
    return f"{error.filename}: {error.strerror}" if error.filename else str(error)
