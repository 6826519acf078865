"""A process with nothing but the webhook in it, to be killed by a test.

Arguments: a data folder.  Each line on stdin is the id of a session whose agent stops.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from twisted.internet import reactor
from twisted.internet.stdio import StandardIO
from twisted.protocols.basic import LineOnlyReceiver

from tests.event_helpers import make_event
from tests.runtime_harness import build_test_runtime
from tests.unit.notify.harness import NotifySessions
from tservice.core.config.model import Config
from tservice.core.kernel.events import EventHub
from tservice.notify.build import build_webhooks
from tservice.store.database import Database


class WebhookPublisher(LineOnlyReceiver):
    """Publishes what it is told, and says so once it is on the disk."""

    delimiter = b"\n"

    def __init__(self, hub: EventHub) -> None:
        self._hub = hub

    def lineReceived(self, line: bytes) -> None:
        self._hub.publish(make_event("hook:stop", session_id=line.decode()))
        self.sendLine(b"told " + line)


def main() -> None:
    """Run until killed."""
    loop: Any = reactor
    sessions: Any = NotifySessions()
    folder = Path(sys.argv[1])
    ground = build_test_runtime(
        folder,
        reactor=loop,
        database=Database.open_file(folder / "state.db", clock=loop),
        config=Config(data_dir=folder),
    )
    build_webhooks(ground, sessions=sessions, host_name="desk").start()
    StandardIO(WebhookPublisher(ground.hub))
    loop.run()


if __name__ == "__main__":
    main()
