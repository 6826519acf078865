"""Children that a test plays, as their transports."""

from __future__ import annotations

from twisted.internet.error import ProcessDone, ProcessExitedAlready, ProcessTerminated
from twisted.internet.protocol import ProcessProtocol
from twisted.python.failure import Failure

OUT, ERRORS = 1, 2


class RemoteChild:
    """A child as its transport."""

    def __init__(self, protocol: ProcessProtocol) -> None:
        self.protocol = protocol
        self.written = b""
        self.over = False
        protocol.makeConnection(self)

    def write(self, data: bytes) -> None:
        self.written += data

    def closeStdin(self) -> None:
        """What is written is all."""

    def signalProcess(self, name: str) -> None:
        if self.over:
            raise ProcessExitedAlready
        self.end_stream()

    def loseConnection(self) -> None:
        """Its pipes are closed with it."""

    def say(self, data: bytes) -> None:
        self.protocol.childDataReceived(OUT, data)

    def complain(self, data: bytes) -> None:
        self.protocol.childDataReceived(ERRORS, data)

    def end_stream(self, status: int = 0) -> None:
        self.over = True
        reason = Failure(ProcessTerminated(status) if status else ProcessDone(0))
        self.protocol.processExited(reason)
        self.protocol.childConnectionLost(OUT)
        self.protocol.processEnded(reason)
