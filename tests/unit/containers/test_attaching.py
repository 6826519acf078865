"""A case's container whose maker's right ends while it is made."""

from __future__ import annotations

from unittest import mock

from attrs import evolve
from twisted.trial.unittest import SynchronousTestCase

from tests.callers import GRANTED
from tests.unit.sessions.harness import start_coroutine
from tservice.cases.interfaces import ContainerSettings
from tservice.containers.model import ContainerHost, EngineKind
from tservice.containers.registry import ContainerRegistry
from tservice.containers.service import ContainerService
from tservice.containers.store import ContainerStore
from tservice.core.kernel.errors import ErrorCode, ServiceError


class ContainerAttachTests(SynchronousTestCase):
    def setUp(self) -> None:
        host = ContainerHost(id="local", label="here", engine=EngineKind.PODMAN, image="debian")
        self.store = mock.Mock(ContainerStore, host=mock.Mock(return_value=host))
        self.boxes = mock.Mock(ContainerRegistry)
        self.boxes.choose_free_name.return_value = "box-one"
        self.service = ContainerService(
            store=self.store,
            hosts=mock.Mock(),
            images=mock.Mock(),
            boxes=self.boxes,
            runner=mock.Mock(),
            sessions=mock.Mock(),
        )

    def test_denied_attach_is_rolled_back(self) -> None:
        def over() -> None:
            self.boxes.ensure_running.assert_awaited_once()
            raise ServiceError(ErrorCode.FORBIDDEN, "not any more")

        by = evolve(GRANTED, reauthorize=over)
        wish = ContainerSettings(host_id="local")
        made = start_coroutine(self.service.create_container("ann", "one", "/work/one", wish, by))
        self.failureResultOf(made, ServiceError)
        self.boxes.remove_container.assert_awaited_once()
        self.store.delete_case.assert_called_once_with("box-one")

    def test_attach_is_kept_while_the_right_lasts(self) -> None:
        wish = ContainerSettings(host_id="local")
        judged = mock.Mock()
        self.successResultOf(
            start_coroutine(self.service.create_container("ann", "one", "/work/one", wish, judged))
        )
        judged.reauthorize.assert_called_once_with()
        self.boxes.remove_container.assert_not_awaited()
