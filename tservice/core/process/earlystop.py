"""A stop that comes before the reactor runs."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType

from twisted.application.service import Service

SignalHandler = Callable[[int, FrameType | None], None]


class EarlyStop(Service):
    """Makes a SIGTERM a clean stop from the start of the services on.

    The reactor sets its handler when it runs.  C{twistd} has told its caller by then that all is
    well, and whoever stops the service right away would kill it: the pid file would stay.
    """

    def __init__(self, handler: SignalHandler) -> None:
        """@param handler: the reactor's own."""
        self._handler = handler

    def startService(self) -> None:
        super().startService()
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._handler)
