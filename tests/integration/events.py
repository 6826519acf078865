"""The events of a running daemon, collected by a thread as a browser would get them."""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from attrs import frozen

from tests.integration.harness import PATIENCE


@frozen(kw_only=True)
class StreamedEvent:
    """One event of the stream."""

    name: str
    data: Any


class EventLog:
    """Reads C{/api/events} until it is closed or the daemon ends; a context manager."""

    def __init__(self, url: str, headers: Mapping[str, str] | None = None) -> None:
        """@raise OSError: nobody listens at C{url}."""
        where = urlsplit(url)
        self._connection = http.client.HTTPConnection(
            str(where.hostname), where.port, timeout=PATIENCE
        )
        self._connection.request("GET", "/api/events", headers=dict(headers or {}))
        self._answer = self._connection.getresponse()
        self._changed = threading.Condition()
        self._heard: list[StreamedEvent] = []
        self._open = True
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def __enter__(self) -> EventLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def named(self, name: str) -> list[StreamedEvent]:
        """What was told by one name so far."""
        with self._changed:
            return [heard for heard in self._heard if heard.name == name]

    def of(self, session: str, *names: str) -> list[StreamedEvent]:
        """What was heard of a session so far, by those names."""
        with self._changed:
            heard = list(self._heard)
        return [each for each in heard if each.name in names and _about(each, session)]

    def wait(self, session: str, name: str, wanted: Callable[[Any], bool] = bool) -> Any:
        """The data of the first such event, which may have come before.

        @raise AssertionError: none came.
        """
        found: list[Any] = []

        def seen() -> bool:
            found[:] = [
                each.data
                for each in self._heard
                if each.name == name and _about(each, session) and wanted(each.data)
            ]
            return bool(found) or not self._open

        with self._changed:
            self._changed.wait_for(seen, PATIENCE)
        if not found:
            raise AssertionError(f"no event {name}; heard: {[each.name for each in self._heard]}")
        return found[0]

    def close(self) -> None:
        """Hang up and wait for the thread."""
        if self._connection.sock is not None:
            with contextlib.suppress(OSError):
                self._connection.sock.shutdown(2)
        self._thread.join(PATIENCE)
        self._answer.close()
        self._connection.close()

    def _read(self) -> None:
        name, data = "", ""
        # A daemon that is killed cuts its answer short; then nothing more is heard.
        with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
            for raw in iter(self._answer.readline, b""):
                line = raw.decode("utf-8").rstrip("\r\n")
                field, _, value = line.partition(": ")
                name = value if field == "event" else name
                data = value if field == "data" else data
                if not line and data:
                    self._add(StreamedEvent(name=name, data=json.loads(data)))
                    name = data = ""
        with self._changed:
            self._open = False
            self._changed.notify_all()

    def _add(self, heard: StreamedEvent) -> None:
        with self._changed:
            self._heard.append(heard)
            self._changed.notify_all()


def _about(heard: StreamedEvent, session: str) -> bool:
    data = heard.data
    return isinstance(data, dict) and session in (data.get("id"), data.get("sessionId"))
