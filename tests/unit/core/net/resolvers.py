"""Name servers of bad faith, and a reactor that notes every connection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.interfaces import IAddress, IHostnameResolver, IHostResolution
from twisted.internet.testing import MemoryReactorClock
from zope.interface import implementer


@implementer(IHostResolution)
class _ScriptedResolution:
    def __init__(self, name: str) -> None:
        self.name = name

    def cancel(self) -> None:
        raise NotImplementedError("as the real one in a thread")


@implementer(IHostnameResolver)
class ScriptedResolver:
    """Answers each name by its script, one answer a look; the last one again and again.

    @ivar looked: the names, in the order in which they were asked for.
    @ivar silent: never answer.
    """

    def __init__(self, script: Mapping[str, Sequence[Sequence[str]]] | None = None) -> None:
        self._script = {name: list(answers) for name, answers in (script or {}).items()}
        self.looked: list[str] = []
        self.silent = False

    def resolveHostName(
        self,
        resolutionReceiver: Any,
        hostName: str,
        portNumber: int = 0,
        addressTypes: Sequence[type[IAddress]] | None = None,
        transportSemantics: str = "TCP",
    ) -> IHostResolution:
        self.looked.append(hostName)
        resolution = _ScriptedResolution(hostName)
        resolutionReceiver.resolutionBegan(resolution)
        if not self.silent:
            for text in self._answer(hostName):
                kind = IPv6Address if ":" in text else IPv4Address
                resolutionReceiver.addressResolved(kind("TCP", text, portNumber))
            resolutionReceiver.resolutionComplete()
        return resolution

    def _answer(self, name: str) -> list[str]:
        """An entry C{cname:x} is a chain: what C{x} resolves to, as libc follows it."""
        answers = self._script.get(name, [[]])
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        found: list[str] = []
        for entry in answer:
            found += self._answer(entry[6:]) if entry.startswith("cname:") else [entry]
        return found


def connected_addresses(reactor: MemoryReactorClock) -> list[tuple[str, int]]:
    """Where connections were tried."""
    return [(host, port) for host, port, *_ in reactor.tcpClients]
