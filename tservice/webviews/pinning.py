"""Restriction of a web tab to the first address of its host name while the tab is open
(protocol-webtabs).

A host name can resolve to another address while the page is open (DNS rebinding). A page from the
internet could then read responses of servers that only this machine and its networks may reach.
"""

from __future__ import annotations

from collections import OrderedDict

from attrs import define

from tservice.core.net.egress import GUARDED, PUBLIC_ONLY, EgressPolicy, parse_address

NOT_THIS_MACHINE = GUARDED.with_refused_networks(
    "127.0.0.0/8", "::1/128", rule="must not be this machine"
)

MOST = 256
"""Maximum number of tokens with pins, larger than the number of valid tokens. The least recently
used is dropped.
"""


@define
class AddressPin:
    """Restriction of one token to addresses like that of its first connection.

    @ivar policy: egress policy that the target's addresses must also satisfy; C{None} before the
        first connection.
    """

    policy: EgressPolicy | None = None

    def record_address(self, address: str) -> None:
        """Record the address of a connection. The first one determines the policy."""
        if self.policy is None:
            found = parse_address(address)
            ways = (way for way in (PUBLIC_ONLY, NOT_THIS_MACHINE) if way.admits_address(found))
            self.policy = next(ways, GUARDED)


class AddressPins:
    """Pins of all tokens."""

    def __init__(self) -> None:
        self._pins: OrderedDict[str, AddressPin] = OrderedDict()

    def get_pin(self, token: str) -> AddressPin:
        """Return the pin of a valid token, and create it if needed."""
        pin = self._pins.setdefault(token, AddressPin())
        self._pins.move_to_end(token)
        if len(self._pins) > MOST:
            self._pins.popitem(last=False)
        return pin
