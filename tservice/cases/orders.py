"""In which order an owner wants the cases (protocol-cases)."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from tservice.cases.store import CaseStore
from tservice.settings.interfaces import IChangingSettings, ISettings


@frozen
class Orders:
    """The setting C{caseOrder}; where there are accounts, each has an order of its own.

    @ivar multiuser: there are accounts.
    """

    store: CaseStore
    settings: ISettings
    multiuser: bool

    def of(self, owner: str) -> Sequence[str]:
        """The names in their order; some may be gone."""
        if self.multiuser:
            return self.store.order(owner)
        return self.settings.get().case_order

    def put(self, owner: str, names: Sequence[str]) -> None:
        """@raise ServiceError: 409, 422: it cannot be kept."""
        if self.multiuser:
            self.store.put_order(owner, names)
        else:
            IChangingSettings(self.settings).change({"caseOrder": list(names)})
