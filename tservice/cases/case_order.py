"""Order in which the user interface lists an owner's cases (protocol-cases)."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from tservice.cases.store import CaseStore
from tservice.settings.interfaces import IEditableSettings, ISettings


@frozen
class CaseOrderStore:
    """Storage of the setting C{caseOrder}, separately for each account.

    @ivar multiuser: true if there are accounts.
    """

    store: CaseStore
    settings: ISettings
    multiuser: bool

    def get_order(self, owner: str) -> Sequence[str]:
        """Return the names of cases in the stored order.

        Some of them may no longer exist.
        """
        if self.multiuser:
            return self.store.get_order(owner)
        return self.settings.get().case_order

    def put_order(self, owner: str, names: Sequence[str]) -> None:
        """Store the order of an owner's cases.

        @raise ServiceError: 409 or 422: the order cannot be stored.
        """
        if self.multiuser:
            self.store.put_order(owner, names)
        else:
            IEditableSettings(self.settings).change_settings({"caseOrder": list(names)})
