"""Who is calling: what every layer may know about a caller."""

from __future__ import annotations

from collections.abc import Callable

from attrs import Factory, field, frozen

from tservice.core.places.place import PlaceId, place_of_os_user

Known = Callable[[str], bool]
"""Whether there is an account of that name, disabled or not."""


@frozen(kw_only=True)
class Identity:
    """Who is calling.

    @ivar username: the account's name; in single-user mode the configured one.
    @ivar can_bypass_permissions: may have run what nobody asks about; admins may, others only
        where it is said.
    @ivar method: C{none}, C{basic}, C{cookie}, C{token}, C{hook} or C{capability}.
    @ivar auth_session: the id of the cookie session behind this call, where there is one.
    @ivar token: the id of the scoped token behind this call, where there is one.
    @ivar scopes: what that token may do; C{None} without a token: everything.
    @ivar os_user: the OS user that the account's panes run as; C{None}: the service's own.
    @ivar os_uid: the OS user whose hooks are calling, where there is one.
    @ivar container: the container whose hooks are calling, where there is one.
    @ivar parent: the session whose agent is calling: it makes children of that session, and
        C{sessions} are those that there are.
    @ivar sessions: the only sessions that it may reach; C{None}: all of its owner's.
    """

    username: str
    admin: bool
    method: str = "none"
    can_bypass_permissions: bool = field(default=Factory(lambda who: who.admin, takes_self=True))
    must_change_password: bool = False
    auth_session: str | None = None
    token: str | None = None
    scopes: frozenset[str] | None = None
    sessions: frozenset[str] | None = None
    parent: str | None = None
    os_user: str | None = None
    os_uid: int | None = None
    container: str | None = None

    @property
    def place(self) -> PlaceId:
        """Where the account's sessions live that say nothing else."""
        return place_of_os_user(self.os_user)

    def may_reach(self, owner: str | None, session_id: str | None = None) -> bool:
        """Whether what C{owner} owns is this caller's to see (protocol-conventions).

        @param session_id: the session that it is, or belongs to; without one it is nothing for
            a token that is bound to sessions.
        """
        if self.sessions is not None and session_id not in self.sessions:
            return False
        return self.admin or (owner is not None and owner == self.username)

    def covers(self, before: Identity) -> bool:
        """Whether no right that this caller had C{before} is lost."""
        return (
            (self.username, self.os_user) == (before.username, before.os_user)
            and self.admin >= before.admin
            and self.can_bypass_permissions >= before.can_bypass_permissions
            and self.must_change_password <= before.must_change_password
            and _within(before.scopes, self.scopes)
            and (_within(before.sessions, self.sessions) or self._same_parent(before))
        )

    def _same_parent(self, before: Identity) -> bool:
        # A child that it ended is no right that it lost.
        return self.parent is not None and self.parent == before.parent

    def is_person(self, username: str | None) -> bool:
        """Whether it is that user, and not a program with one of that user's tokens."""
        return self.token is None and self.username == username

    def has_scope(self, scope: str) -> bool:
        """Whether the caller may do what C{scope} covers; without a token: whoever it is."""
        return self.scopes is None or scope in self.scopes


def _within(part: frozenset[str] | None, whole: frozenset[str] | None) -> bool:
    """C{None} is everything."""
    return whole is None or (part is not None and part <= whole)
