"""Remote hosts as locations of sessions (architecture-place)."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from attrs import frozen

from tservice.core.kernel.errors import make_failure_error
from tservice.core.locations.location import (
    Location,
    LocationId,
    LocationOutage,
    LocationShell,
)
from tservice.core.users.os_users import OsUser, make_missing_user
from tservice.core.values.text import VERSION_LENGTH
from tservice.hosts.connection import HostUnreachable
from tservice.hosts.host_links import HostFacts, HostLink, HostLinks
from tservice.mux.tmux_version import MIN_TMUX, MIN_TMUX_TEXT

_T = TypeVar("_T")


@frozen
class RemoteLocationOperations:
    """Operations on a remote location. It runs panes only; the service has no access to its
    files.
    """

    facts: HostFacts | None

    def run_file_work(self, work: Callable[[], _T], /) -> _T:
        raise OSError("the files are on another machine")

    def find_program(self, names: Sequence[str], /) -> Path | None:
        # Its existence is checked at the start, on the host's own search path.
        return Path(names[0]) if names else None

    def build_command(self, argv: Sequence[str], /) -> list[str]:
        raise OSError("the location is another machine")

    def build_environment(self, named: Sequence[str] = (), /) -> Mapping[str, str]:
        if self.facts is None:
            return {}
        facts = self.facts
        return {
            "HOME": facts.home,
            "USER": facts.user,
            "LOGNAME": facts.user,
            "SHELL": facts.shell,
            "PATH": facts.path,
        }

    def get_search_path(self) -> str:
        return self.build_environment().get("PATH", "")


@frozen
class RemoteLocations:
    """Locations on remote hosts, for sessions. A session stays on the same host until it is
    removed.
    """

    links: HostLinks

    async def refresh_location(self, known: LocationId) -> None:
        await self._fetch_facts(known)

    async def _fetch_facts(self, known: LocationId, *, waking: bool = False) -> None:
        link = self.links.find_or_create_link(known.name)
        if link is None:
            return
        try:
            await link.fetch_facts(waking=waking)
        except HostUnreachable as error:
            raise make_failure_error(f"{link.host.label} is out of reach: {error}") from error

    async def prepare_location(self, known: LocationId) -> None:
        await self._fetch_facts(known, waking=True)

    async def refresh_if_reachable(self, known: LocationId) -> None:
        link = self.links.find_or_create_link(known.name)
        if link is None:
            raise make_failure_error(f"remote host {known.name} no longer exists")
        link.connection.connect_unless_attempted()
        if not link.connection.is_up:
            raise make_failure_error(f"{link.host.label} is out of reach")
        await self.refresh_location(known)

    def find_outage(self, known: LocationId) -> LocationOutage | None:
        link = self.links.find_or_create_link(known.name)
        if link is None:
            return LocationOutage(title=known.name)
        if link.connection.is_up:
            return None
        return LocationOutage(title=link.host.label, next_at=link.connection.next_at)

    def request_connection(self, known: LocationId) -> None:
        link = self.links.find_or_create_link(known.name)
        if link is not None:
            link.waker.request_connection()

    def find_location(self, known: LocationId) -> Location | None:
        link = self.links.find_or_create_link(known.name)
        return None if link is None else _make_location(known, link)

    def find_earlier_location(self, known: LocationId) -> Location:
        link = self.links.find_or_create_link(known.name)
        return _make_location(known, link) if link is not None else _missing_location(known)

    def get_usable_location(self, known: LocationId, os_user: str | None) -> Location:
        link = self.links.find_or_create_link(known.name)
        if link is None:
            raise make_failure_error(f"remote host {known.name} no longer exists")
        if link.facts is None:
            raise make_failure_error(
                f"{link.host.label} is out of reach: "
                f"{link.connection.failure_reason or 'not tried'}"
            )
        check_tmux_version(link.facts.tmux)
        return _make_location(known, link)


def check_tmux_version(version: str | None) -> None:
    """Check that the tmux version of a host is supported.

    @param version: version that the host reports, or C{None} if tmux is not installed.
    @raise ServiceError: 422 if tmux is missing or too old.
    """
    if version is None:
        raise make_failure_error(
            f"tmux is missing on the host: install tmux {MIN_TMUX_TEXT} or later"
        )
    digits = re.findall(r"[0-9]{1,9}", version[:VERSION_LENGTH])
    if tuple(int(part) for part in digits[:2]) < MIN_TMUX:
        raise make_failure_error(
            f"tmux {version[:VERSION_LENGTH]} is too old on the host: "
            f"install {MIN_TMUX_TEXT} or later"
        )


def _make_location(known: LocationId, link: HostLink) -> Location:
    facts = link.facts
    user = make_missing_user(link.host.username)
    if facts is not None:
        home = Path(facts.home)
        user = OsUser(
            name=facts.user, uid=facts.uid, gid=-1, groups=(), home=home, shell=facts.shell
        )
    return Location(
        id=known,
        title=link.host.label,
        home=user.home,
        user=user,
        is_isolated=True,
        has_local_files=False,
        unreadable_reason="remote",
        commands=link.host.commands,
        find_shell=partial(_find_shell, link),
        operations=RemoteLocationOperations(facts),
    )


def _find_shell(link: HostLink) -> LocationShell:
    channel = link.runner.channel
    if not channel.is_open():
        raise OSError(errno.EHOSTUNREACH, f"{link.host.label} is out of reach")
    return LocationShell(argv=channel.build_argv(), env=channel.env)


def _missing_location(known: LocationId) -> Location:
    user = make_missing_user(known.name)
    return Location(
        id=known,
        title=known.name,
        home=user.home,
        user=user,
        is_isolated=True,
        has_local_files=False,
        unreadable_reason="remote",
        operations=RemoteLocationOperations(None),
    )
