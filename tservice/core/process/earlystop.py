"""Clean stop on a signal that arrives before the reactor runs."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType

from twisted.application.service import Service

SignalHandler = Callable[[int, FrameType | None], None]


class EarlyStop(Service):
    """Service that handles SIGTERM as a clean stop as soon as services start.

    The reactor installs its handler only when it runs.  By then C{twistd} has reported success to
    its caller.  Without this service, a SIGTERM in between would kill the process and leave the pid
    file.
    """

    def __init__(self, handler: SignalHandler) -> None:
        """@param handler: the reactor's signal handler."""
        self._handler = handler

    def startService(self) -> None:
        super().startService()
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._handler)
