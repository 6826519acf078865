"""What a page's main thread did, as Chromium traces it."""

from __future__ import annotations

from typing import Any

from attrs import frozen

CATEGORIES = ["disabled-by-default-devtools.timeline", "devtools.timeline", "__metadata"]


@frozen(kw_only=True)
class Task:
    """What the page's main thread did in one go.

    @ivar wall: milliseconds by the clock; where processors are few, the floods' own turns too.
    @ivar busy: milliseconds that the thread had a processor.
    """

    wall: float
    busy: float


def tasks(events: list[dict[str, Any]]) -> list[Task]:
    """Of a trace, all tasks of renderers' main threads."""
    mains = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    return [
        Task(wall=event["dur"] / 1000, busy=event.get("tdur", 0) / 1000)
        for event in events
        if event["name"] == "RunTask" and (event["pid"], event["tid"]) in mains and "dur" in event
    ]
