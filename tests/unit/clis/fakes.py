"""Stand-ins for what the CLI registry is handed."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from zope.interface import implementer

from tservice.clis.interfaces import LaunchRequest, PaneVariables
from tservice.clis.model import CliEntry, parse_entry
from tservice.core.locations.location import Location
from tservice.settings.interfaces import ISettings, SettingsObserver
from tservice.settings.model import Settings, parse_stored_settings

PANE = PaneVariables(
    session_id="s-1", api_url="http://127.0.0.1:1", hook_secret_file="/d/hook-secret"
)


def make_entry(**fields: object) -> CliEntry:
    """A small valid entry with C{fields} (camelCase) put over it."""
    return parse_entry(
        {"id": "x", "label": "X", "shortBadge": "X", "binaries": ["x"], "argv": ["x"], **fields}
    )


def launch_request(
    mode: str, place: Location, *, granted: bool = True, **fields: Any
) -> LaunchRequest:
    """A launch of C{mode} in C{place}."""
    return LaunchRequest(mode=mode, pane=PANE, place=place, granted=granted, **fields)


def make_program(folder: Path, name: str, text: str = "#!/bin/sh\n") -> Path:
    """An executable file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@implementer(ISettings)
class FakeSettings:
    """Settings that a test sets, by their names on the wire."""

    def __init__(self, **data: object) -> None:
        self.settings = parse_stored_settings(data)[0]

    def get(self) -> Settings:
        return self.settings

    def add_observer(self, observer: SettingsObserver) -> Callable[[], None]:
        raise NotImplementedError("nothing in this feature observes")
