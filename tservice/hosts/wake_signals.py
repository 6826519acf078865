"""Sending of wake signals to a machine, and a probe of its port (protocol-wake)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from attrs import frozen
from twisted.internet.endpoints import HostnameEndpoint
from twisted.internet.interfaces import IReactorUDP
from twisted.internet.protocol import DatagramProtocol, Factory
from twisted.internet.protocol import Protocol as Connected

from tservice.core.process.child import ChildCommand, ChildFamily, ChildResult, ChildRunner
from tservice.hosts.model import RemoteHost

COMMAND_TIMEOUT = 10.0
"""Seconds that the command for waking a host may run."""

PROBE_TIMEOUT = 1.5
"""Seconds that a host has to accept a connection to its port."""

BROADCAST = ("255.255.255.255", 9)
"""Address and UDP port to which magic packets are sent."""


class WakeError(Exception):
    """Error for a wake signal that could not be sent, or a failed command. Its text is one line for
    users.
    """


class WakeSender(Protocol):
    """Sender of wake signals."""

    async def send_wake(self, host: RemoteHost) -> None:
        """Run the host's wake command. Without a command, send a magic packet to each MAC address.

        @raise WakeError: the command failed, or no packet was sent.
        """


Probe = Callable[[RemoteHost], Awaitable[bool]]
"""Function that returns true if the port of a host accepts connections. It never raises."""


@frozen
class HostWaker:
    """L{WakeSender} that runs processes and sends UDP packets.

    @ivar env: environment of the wake command.
    """

    children: ChildRunner
    udp: IReactorUDP
    env: Mapping[str, str]

    async def send_wake(self, host: RemoteHost) -> None:
        """Send the wake signal of a host; see L{WakeSender.send_wake}."""
        if host.wake_command is not None:
            await self._run_command(host.wake_command)
        else:
            self._send_packets([build_magic_packet(mac) for mac in host.macs])

    async def _run_command(self, program: str) -> None:
        # No pipes and no group: processes that it leaves running live on.
        command = ChildCommand(
            argv=[program],
            env=self.env,
            family=ChildFamily.ALONE,
            is_silent=True,
            seconds=COMMAND_TIMEOUT,
        )
        try:
            result = await self.children.run(command)
        except OSError as error:
            raise WakeError(f"wakeCommand cannot be started: {error.strerror}") from error
        if result.status != 0:
            raise WakeError(f"wakeCommand {_describe_failure(result)}")

    def _send_packets(self, packets: list[bytes]) -> None:
        try:
            port: Any = self.udp.listenUDP(0, DatagramProtocol(), "", 8192)
            try:
                port.setBroadcastAllowed(True)
                for packet in packets:
                    port.write(packet, BROADCAST)
            finally:
                port.stopListening()
        except OSError as error:
            raise WakeError(f"no magic packet could be sent: {error.strerror}") from error


def _describe_failure(result: ChildResult) -> str:
    if result.is_timed_out:
        return f"took more than {COMMAND_TIMEOUT:g} s"
    if result.signal is not None:
        return f"was ended by signal {result.signal}"
    return f"ended with status {result.status}"


def build_magic_packet(mac: str) -> bytes:
    """Return a Wake-on-LAN packet: six bytes C{0xff}, followed by the MAC address 16 times.

    @param mac: six pairs of hexadecimal digits, separated by C{:} or C{-}.
    """
    return b"\xff" * 6 + bytes.fromhex(mac.replace("-", ":").replace(":", "")) * 16


@frozen
class PortProbe:
    """L{Probe} that connects to the host's port and closes the connection without sending data.

    @ivar reactor: reactor for timers, connections and name lookups.
    """

    reactor: Any

    async def __call__(self, host: RemoteHost) -> bool:
        endpoint = HostnameEndpoint(
            self.reactor, host.host.strip("[]"), host.port, timeout=PROBE_TIMEOUT
        )
        try:
            connection = endpoint.connect(Factory.forProtocol(Connected))
            # The name lookup may take longer than the connection.
            found: Any = await connection.addTimeout(PROBE_TIMEOUT, self.reactor)
        except Exception:
            # Any error means that the port did not answer.
            return False
        found.transport.abortConnection()
        return True
