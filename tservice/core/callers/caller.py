"""Caller of an operation: an identity that can be authorized again.

A handler checks the caller's rights at its start. They may be revoked while it waits, so it calls
C{caller.reauthorize()} after the wait and before it changes anything.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import field, fields, frozen

from tservice.core.callers.identity import Identity


@frozen(kw_only=True)
class Caller(Identity):
    """Identity for which work is done, with its authority.

    @ivar reauthorize: checks the caller's rights again; raises a refusal if one was lost.  Call it
        after waiting and before a change.
    """

    reauthorize: Callable[[], object] = field(eq=False, repr=False)

    @classmethod
    def from_identity(cls, identity: Identity, reauthorize: Callable[[], object]) -> Caller:
        """Return the caller with the rights of C{identity}, checked by C{reauthorize}."""
        values = {each.name: getattr(identity, each.name) for each in fields(Identity)}
        return cls(**values, reauthorize=reauthorize)
