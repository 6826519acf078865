"""How far in a web tab's name may lead, while the tab is open (protocol-webtabs).

A page keeps its name while that name comes to lead elsewhere (DNS rebinding).  One that came from
the internet would so read what only this machine and its networks are meant to reach.
"""

from __future__ import annotations

from collections import OrderedDict

from attrs import define

from tservice.core.net.egress import GUARDED, PUBLIC_ONLY, EgressPolicy, read_address

NOT_HERE = GUARDED.stricter("127.0.0.0/8", "::1/128", rule="must not be this machine")

MOST = 256
"""Capabilities whose pins are kept, more than there can be; the one used longest ago goes."""


@define
class Pin:
    """Of one capability.

    @ivar narrowed: what its target's addresses have to pass beside the usual rules; C{None}: it was
        not reached yet.
    """

    narrowed: EgressPolicy | None = None

    def reached(self, address: str) -> None:
        """A connection was made; the first one counts."""
        if self.narrowed is None:
            found = read_address(address)
            ways = (way for way in (PUBLIC_ONLY, NOT_HERE) if way.admits(found))
            self.narrowed = next(ways, GUARDED)


class Pins:
    """Those of all capabilities."""

    def __init__(self) -> None:
        self._pins: OrderedDict[str, Pin] = OrderedDict()

    def of(self, word: str) -> Pin:
        """That of a capability, which is known to be good."""
        pin = self._pins.setdefault(word, Pin())
        self._pins.move_to_end(word)
        if len(self._pins) > MOST:
            self._pins.popitem(last=False)
        return pin
