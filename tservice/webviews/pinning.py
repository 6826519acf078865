"""Restriction of the addresses of a web tab's host name while the tab is open (protocol-webtabs).

A name can change to another address while its page stays open (DNS rebinding).  A page from the
internet could then read what only this machine and its networks should reach.
"""

from __future__ import annotations

from collections import OrderedDict

from attrs import define

from tservice.core.net.egress import GUARDED, PUBLIC_ONLY, EgressPolicy, parse_address

NOT_THIS_MACHINE = GUARDED.refuse_more_networks(
    "127.0.0.0/8", "::1/128", rule="must not be this machine"
)

MOST = 256
"""Limit of tokens with pins, above that of tokens; the least recently used is dropped."""


@define
class AddressPin:
    """Pin of one token.

    @ivar narrowed: additional rules for the target's addresses; C{None}: not connected yet.
    """

    policy: EgressPolicy | None = None

    def record_address(self, address: str) -> None:
        """Record a connection; the first one determines the rules."""
        if self.policy is None:
            found = parse_address(address)
            ways = (way for way in (PUBLIC_ONLY, NOT_THIS_MACHINE) if way.admits_address(found))
            self.policy = next(ways, GUARDED)


class AddressPins:
    """Pins of all tokens."""

    def __init__(self) -> None:
        self._pins: OrderedDict[str, AddressPin] = OrderedDict()

    def get_pin(self, token: str) -> AddressPin:
        """Return the pin of a valid token."""
        pin = self._pins.setdefault(token, AddressPin())
        self._pins.move_to_end(token)
        if len(self._pins) > MOST:
            self._pins.popitem(last=False)
        return pin
