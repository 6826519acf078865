"""C{python -m bench [name ...]}: run the benches on a daemon of their own; print one table."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from bench import (
    against,
    agents,
    attach,
    bodies,
    company,
    conversation,
    cronzones,
    delivery,
    echo,
    elsewhere,
    files,
    flood,
    footprint,
    gitecho,
    gitstatus,
    hostile,
    osusers,
    page,
    redraws,
    requests,
    ruleanswers,
    stages,
    starting,
    statuslag,
    tsctl,
    waits,
)
from bench.report import Row, table
from tests.integration.harness import DaemonHarness

BENCHES: dict[str, Callable[[DaemonHarness], list[Row]]] = {
    "page": page.run,
    "against": against.run,
    "company": company.run,
    "conversation": conversation.run,
    "delivery": delivery.run,
    "attach": attach.run,
    "bodies": bodies.run,
    "cronzones": cronzones.run,
    "echo": echo.run,
    "elsewhere": elsewhere.run,
    "files": files.run,
    "flood": flood.run,
    "footprint": footprint.run,
    "agents": agents.run,
    "gitecho": gitecho.run,
    "gitstatus": gitstatus.run,
    "stages": stages.run,
    "starting": starting.run,
    "tsctl": tsctl.run,
    "waits": waits.run,
    "ruleanswers": ruleanswers.run,
    "statuslag": statuslag.run,
    "hostile": hostile.run,
    "osusers": osusers.run,
    "requests": requests.run,
    "redraws": redraws.run,
}
"""In this order: C{starting} takes up the hundred sessions that C{footprint} leaves; it makes them
otherwise."""


class Executed(DaemonHarness):
    """One that runs as its users run it: its imports are a part of its start."""

    preloaded = False


def main(names: list[str]) -> int:
    """Run what is named, or everything; 1 when a promise is missed, 2 for an unknown name."""
    unknown = set(names) - set(BENCHES)
    if unknown:
        print(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(BENCHES)}")
        return 2
    daemon = Executed(SERVICE_MAX_SESSIONS="200", SERVICE_MAX_SESSIONS_PER_USER="200")
    # As systemd starts it.
    daemon.stands_in = Path("/")
    rows: list[Row] = []
    try:
        daemon.start()
        for name, bench in BENCHES.items():
            if not names or name in names:
                rows += bench(daemon)
    finally:
        daemon.close()
    print(table(rows))
    return 1 if any(row.verdict == "MISS" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
