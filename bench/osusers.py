"""What a session costs that runs as an OS user, beside one of the service's own, in one run."""

from __future__ import annotations

import sys
import time

from bench.report import Row, percentile
from tests.integration.harness import DaemonHarness
from tests.integration.osusers.harness import MultiuserDaemon, OsUserFactory, os_user_obstacle

RUNS = 40
RATIO = 1.5


def create_to_prompt(service: MultiuserDaemon, name: str) -> float:
    """Milliseconds from asking for a session to the first byte of its prompt."""
    started = time.perf_counter()
    session = service.shell(name)
    while not service.screen(name, session).strip():
        time.sleep(0.001)
    taken = (time.perf_counter() - started) * 1000
    service.good(name, "DELETE", f"/api/sessions/{session}")
    return taken


def run(daemon: DaemonHarness) -> list[Row]:
    """The rows of this bench; it has a daemon of its own, with accounts."""
    reason = os_user_obstacle()
    if reason is not None:
        print(f"osusers is left out: {reason}", file=sys.stderr)
        return []
    people = OsUserFactory()
    try:
        service = MultiuserDaemon()
        try:
            service.account("ann", people.make().name)
            service.account("own", "")
            return _rows(service)
        finally:
            service.close()
    finally:
        people.close()


def _rows(service: MultiuserDaemon) -> list[Row]:
    taken: dict[str, list[float]] = {"own": [], "ann": []}
    for name in taken:
        create_to_prompt(service, name)
    # In turns, so that whatever else the machine does falls on both.
    for _ in range(RUNS):
        for name, found in taken.items():
            found.append(create_to_prompt(service, name))
    own, other = (percentile(found, 0.5) for found in taken.values())
    return [
        Row(
            name="create to first prompt byte as an OS user, p50",
            ours=other,
            peer=own,
            unit="ms",
            against="as the service's own user",
            at_most=RATIO,
        )
    ]
