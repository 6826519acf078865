"""Order in which an owner sees the cases (protocol-cases)."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from tservice.cases.store import CaseStore
from tservice.settings.interfaces import IEditableSettings, ISettings


@frozen
class CaseOrderStore:
    """The setting C{caseOrder}; with accounts, a separate order for each.

    @ivar multiuser: there are accounts.
    """

    store: CaseStore
    settings: ISettings
    multiuser: bool

    def get_order(self, owner: str) -> Sequence[str]:
        """Return the names in their order; some cases may be gone."""
        if self.multiuser:
            return self.store.get_order(owner)
        return self.settings.get().case_order

    def put_order(self, owner: str, names: Sequence[str]) -> None:
        """Store an order.

        @raise ServiceError: 409, 422: it cannot be stored.
        """
        if self.multiuser:
            self.store.put_order(owner, names)
        else:
            IEditableSettings(self.settings).change_settings({"caseOrder": list(names)})
