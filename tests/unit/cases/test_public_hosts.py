"""Where a clone of an account without the grant may go, by what its host's name resolves to."""

from __future__ import annotations

from typing import Any

from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.interfaces import IHostnameResolver
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer

from tests.unit.sessions.harness import start_coroutine
from tservice.cases.publichosts import restrict_to_public_hosts
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.git.clone_address import CloneSource, parse_source

PUBLIC, OTHER = "1.1.1.1", "2606:4700::1111"


@implementer(IHostnameResolver)
class Names:
    """Resolves every name to the same addresses."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = addresses
        self.asked: list[str] = []

    def resolveHostName(
        self,
        resolutionReceiver: Any,
        hostName: str,
        portNumber: int = 0,
        addressTypes: Any = None,
        transportSemantics: str = "TCP",
    ) -> Any:
        self.asked.append(hostName)
        for each in self.addresses:
            kind = IPv6Address if ":" in each else IPv4Address
            resolutionReceiver.addressResolved(kind("TCP", each, portNumber))
        resolutionReceiver.resolutionComplete()


class PublicHostTests(SynchronousTestCase):
    def hold(self, where: str, *addresses: str) -> CloneSource:
        source = parse_source(where, local=False)
        done = start_coroutine(restrict_to_public_hosts(source, Names(*addresses), "kim"))
        held: CloneSource = self.successResultOf(done)
        return held

    def refused(self, where: str, *addresses: str) -> ServiceError:
        source = parse_source(where, local=False)
        done = start_coroutine(restrict_to_public_hosts(source, Names(*addresses), "kim"))
        error: ServiceError = self.failureResultOf(done, ServiceError).value
        return error

    def test_public_addresses_are_kept_with_the_source(self) -> None:
        for where in (
            "https://example.org/x", "http://Example.org:8080/x", "ssh://git@example.org/x",
            "git@example.org:x", "git://example.org/x",
        ):  # fmt: skip
            self.assertEqual((PUBLIC, OTHER), self.hold(where, PUBLIC, OTHER).addresses)
        self.assertEqual((OTHER,), self.hold(f"https://[{OTHER}]/x").addresses)

    def test_one_address_inside_refuses_them_all(self) -> None:
        for inside in (
            "127.0.0.1",
            "10.1.2.3",
            "169.254.169.254",
            "::1",
            "fd00::1",
            "64:ff9b::7f00:1",
        ):
            for found in ((inside,), (PUBLIC, inside)):
                error = self.refused("https://example.org/x", *found)
                self.assertIs(ErrorCode.FORBIDDEN, error.code)
                self.assertTrue(error.message.startswith("repository: "), error.message)

    def test_odd_spelling_of_a_host_is_refused(self) -> None:
        for host in ("1.1.1.1.", "example.org.", "0x1.1.1.1", "16843009"):
            error = self.refused(f"https://{host}/x", PUBLIC)
            self.assertIs(ErrorCode.FORBIDDEN, error.code)

    def test_host_without_an_address_is_not_found(self) -> None:
        self.assertIs(ErrorCode.OPERATION_FAILED, self.refused("https://example.org/x").code)
