"""Sending of wake signals to a machine, and a probe of its port (protocol-wake)."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import HostnameEndpoint
from twisted.internet.error import ProcessDone, ProcessExitedAlready
from twisted.internet.interfaces import IReactorProcess, IReactorTime, IReactorUDP
from twisted.internet.protocol import DatagramProtocol, Factory, ProcessProtocol
from twisted.internet.protocol import Protocol as Connected
from twisted.python.failure import Failure

from tservice.core.timers import cancel_call
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

    clock: IReactorTime
    processes: IReactorProcess
    udp: IReactorUDP
    env: Mapping[str, str]

    async def send_wake(self, host: RemoteHost) -> None:
        """Send the wake signal of a host; see L{WakeSender.send_wake}."""
        if host.wake_command is not None:
            await self._run_command(host.wake_command)
        else:
            self._send_packets([build_magic_packet(mac) for mac in host.macs])

    async def _run_command(self, program: str) -> None:
        child = _WakeCommandProcess()
        # No pipes: processes that it leaves running would keep them open.
        null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        try:
            self.processes.spawnProcess(
                child, program, [program], dict(self.env), "/",
                childFDs=dict.fromkeys((0, 1, 2), null),
            )  # fmt: skip
        except OSError as error:
            raise WakeError(f"wakeCommand cannot be started: {error.strerror}") from error
        finally:
            os.close(null)
        timer = self.clock.callLater(COMMAND_TIMEOUT, child.kill)
        try:
            why = await child.ended
        finally:
            cancel_call(timer)
        if why is not None:
            raise WakeError(f"wakeCommand {why}")

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


class _WakeCommandProcess(ProcessProtocol):
    """Process of the wake command. Processes that the command leaves running are not waited for.

    @ivar ended: Deferred that fires with an error text, or with C{None} if the command succeeded.
    """

    transport: Any

    def __init__(self) -> None:
        self.ended: Deferred[str | None] = Deferred(lambda _: self.kill())
        self._late = False

    def kill(self) -> None:
        """Kill the command with SIGKILL."""
        self._late = True
        with suppress(ProcessExitedAlready):
            self.transport.signalProcess("KILL")

    def processExited(self, reason: Failure) -> None:
        if not self.ended.called:
            self.ended.callback(self._describe_failure(reason.value))

    def _describe_failure(self, end: Any) -> str | None:
        if self._late:
            return f"took more than {COMMAND_TIMEOUT:g} s"
        if isinstance(end, ProcessDone):
            return None
        if end.signal is not None:
            return f"was ended by signal {end.signal}"
        return f"ended with status {end.exitCode}"


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
