"""The hosts on the disk, and who may change them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from tests.callers import GRANTED
from tests.runtime_harness import NoWorkerPools
from tests.unit.right_checks import DENIED, deny_change
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.hosts.host_file import open_host_file
from tservice.hosts.model import RemoteHost
from tservice.hosts.registry import HostRegistry

HOST = RemoteHost(id="h", label="H", host="h.lan", username="me")


class HostRegistryRightTests(SynchronousTestCase):
    def setUp(self) -> None:
        folder = Path(self.mktemp()).absolute()
        folder.mkdir(mode=0o700)
        self.book = HostRegistry(open_host_file(folder), NoWorkerPools().files)
        self.book.load()

    def refused(self, change: Deferred[Any]) -> None:
        found = self.failureResultOf(change, ServiceError).value
        self.assertEqual(ErrorCode.FORBIDDEN, found.code)

    def test_right_lost_during_the_request_changes_no_host(self) -> None:
        self.refused(Deferred.fromCoroutine(self.book.add(HOST, DENIED)))
        self.assertEqual((), self.book.list_hosts())
        made = self.successResultOf(Deferred.fromCoroutine(self.book.add(HOST, GRANTED)))
        other = evolve(made, host="other.lan")
        self.refused(Deferred.fromCoroutine(self.book.replace_host(other, DENIED)))
        self.refused(Deferred.fromCoroutine(self.book.remove(made.id, deny_change)))
        self.assertEqual((made,), self.book.list_hosts())
