"""Who is calling: what every layer may know about a caller."""

from __future__ import annotations

from attrs import frozen


@frozen(kw_only=True)
class Identity:
    """Who is calling.

    @ivar username: the account's name; in single-user mode the configured one.
    @ivar method: C{none}, C{basic}, C{cookie}, C{token}, C{hook} or C{capability}.
    @ivar auth_session: the id of the cookie session behind this call, where there is one.
    """

    username: str
    admin: bool
    method: str = "none"
    can_bypass_permissions: bool = True
    must_change_password: bool = False
    auth_session: str | None = None

    def may_reach(self, owner: str | None) -> bool:
        """Whether what C{owner} owns is this caller's to see (wire 26, Access)."""
        return self.admin or (owner is not None and owner == self.username)
