"""What a container is made with (protocol-containers)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.runtime_harness import NoWorkerPools
from tests.unit.right_checks import deny_change
from tservice.containers.folders import ContainerFolders
from tservice.containers.model import ContainerCase
from tservice.containers.registry import ContainerRegistry
from tservice.core.kernel.errors import ServiceError


class NoEngine:
    """Stands for the hosts, of which none may be asked for anything."""

    def get(self, host_id: str) -> Any:
        return self

    def get_engine(self, host: object) -> Any:
        return self

    async def look(self, names: object) -> Any:
        raise AssertionError("the engine was asked")


class ContainerWorkspaceTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.base = Path(self.mktemp()).absolute()
        self.base.mkdir()
        anything: Any = NoEngine()
        self.boxes = ContainerRegistry(
            clock=Clock(),
            store=anything,
            hosts=anything,
            images=anything,
            folders=ContainerFolders(self.base / "containers"),
            files=NoWorkerPools().files,
            act=lambda owner, work: work(),
            library=(),
            home=self.base,
            suffix=lambda: "s",
        )

    def test_link_instead_of_the_workspace_is_never_mounted(self) -> None:
        """Who may rename the folder could else have any of the machine's inside."""
        work = self.base / "work"
        case = ContainerCase(
            owner="", name="c", host_id="h", container="service-case-c", path=str(work)
        )
        for put in (
            lambda: work.symlink_to("/etc"),
            lambda: work.write_text("a file"),
            lambda: os.mkfifo(work),
            lambda: None,
        ):
            put()
            refused = self.failureResultOf(
                Deferred.fromCoroutine(self.boxes.ensure_running(case)), ServiceError
            )
            self.assertIn(str(work), refused.value.message)
            work.unlink(missing_ok=True)

    def test_container_is_not_recreated_once_its_owner_lost_the_right(self) -> None:
        case = ContainerCase(
            owner="", name="c", host_id="h", container="service-case-c", path=str(self.base)
        )

        made = Deferred.fromCoroutine(self.boxes.recreate_container(case, deny_change))
        refused = self.failureResultOf(made, ServiceError)
        self.assertEqual("no more", refused.value.message)

    def test_workspace_of_another_user_needs_root(self) -> None:
        """An error of the service's own has no text of the system's: it read as "None"."""
        case = ContainerCase(
            owner="", name="c", host_id="h", container="service-case-c", path=str(self.base)
        )
        other = self.base.stat().st_uid + 4321
        self.patch(os, "geteuid", lambda: other)
        made = Deferred.fromCoroutine(self.boxes.recreate_container(case, lambda: None))
        said = self.failureResultOf(made, ServiceError).value.message
        self.assertIn(f"{self.base} belongs to user {other - 4321}", said)
        self.assertIn(f"choose a folder of user {other}", said)
