"""Identity of a caller, shared by all layers."""

from __future__ import annotations

from collections.abc import Callable

from attrs import Factory, field, frozen

from tservice.core.locations.location import LocationId, make_os_user_location

AccountExists = Callable[[str], bool]
"""Callable that returns whether an account of that name exists; disabled accounts count."""


@frozen(kw_only=True)
class Identity:
    """Authenticated caller and its rights.

    @ivar username: the account's name; in single-user mode the configured name.
    @ivar can_bypass_permissions: true if the caller may start agents that do not ask for
        permission.  Admins may, other users only if their account allows it.
    @ivar method: the kind of authentication: C{none}, C{basic}, C{cookie}, C{token}, C{hook} or
        C{capability}.
    @ivar auth_session: the id of the cookie session of this call.  C{None} without a cookie.
    @ivar token: the id of the scoped token of this call.  C{None} without a token.
    @ivar scopes: the scopes of that token.  C{None} without a token, which allows everything.
    @ivar os_user: the OS user that the account's panes run as.  C{None} for the service's user.
    @ivar os_uid: the id of the OS user whose hook is calling.  C{None} for all other callers.
    @ivar container: the container whose hook is calling.  C{None} for all other callers.
    @ivar parent: the session whose agent is calling.  New sessions become its children; C{sessions}
        holds the ids of the existing children.
    @ivar sessions: the only sessions that the caller may access.  C{None} for all sessions of the
        caller's account.
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
    def location_id(self) -> LocationId:
        """Default location of the account's sessions."""
        return make_os_user_location(self.os_user)

    def can_access(self, owner: str | None, session_id: str | None = None) -> bool:
        """Return whether the caller may see an object of C{owner} (protocol-conventions).

        @param session_id: the session that the object is or belongs to.  With C{None}, a token that
            is bound to sessions has no access.
        """
        if self.sessions is not None and session_id not in self.sessions:
            return False
        return self.admin or (owner is not None and owner == self.username)

    def keeps_rights_of(self, before: Identity) -> bool:
        """Return whether this identity has every right of C{before}, an earlier identity of the
        caller.
        """
        return (
            (self.username, self.os_user) == (before.username, before.os_user)
            and self.admin >= before.admin
            and self.can_bypass_permissions >= before.can_bypass_permissions
            and self.must_change_password <= before.must_change_password
            and _is_subset(before.scopes, self.scopes)
            and (_is_subset(before.sessions, self.sessions) or self._keeps_parent(before))
        )

    def _keeps_parent(self, before: Identity) -> bool:
        # A child session that has ended is not a lost right.
        return self.parent is not None and self.parent == before.parent

    def is_person(self, username: str | None) -> bool:
        """Return whether the caller is the user C{username} in person, not a program with a
        token.
        """
        return self.token is None and self.username == username

    def has_scope(self, scope: str) -> bool:
        """Return whether the caller has C{scope}; a caller without a token has every scope."""
        return self.scopes is None or scope in self.scopes


def _is_subset(part: frozenset[str] | None, whole: frozenset[str] | None) -> bool:
    """Return whether C{part} is a subset of C{whole}, where C{None} means everything."""
    return whole is None or (part is not None and part <= whole)
