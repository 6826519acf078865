"""Service that reads and writes the settings file."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from twisted.logger import Logger
from zope.interface import implementer

from tservice.core.callers.authentication import SignInRule
from tservice.core.disk.disk_errors import find_disk_problem
from tservice.core.disk.files import (
    FileError,
    UnparsableFile,
    read_json,
    remove_temporary_files,
    restrict_to_owner,
    write_private_file,
)
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_conflict_error,
    make_failure_error,
)
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.kernel.listeners import ListenerList
from tservice.settings.interfaces import IEditableSettings, ISettings, SettingsObserver
from tservice.settings.model import (
    Settings,
    make_public_settings,
    merge_patch,
    parse_stored_settings,
)


@implementer(ISettings, IEditableSettings)
class SettingsService:
    """Reads and writes C{<data>/settings.json}.

    Users may edit the file too.  Therefore it is read again before every change, unknown keys are
    kept, and a key with an invalid value falls back to its default.  A file that cannot be used at
    all (invalid JSON, not a regular file) is not changed.  The defaults are used, the log gives the
    reason, and every change is refused with a 409 until the file is repaired.  A symbolic link is
    read, but changes are refused in the same way.
    """

    _log = Logger()

    def __init__(self, path: Path, hub: EventHub, sign_in: SignInRule) -> None:
        self._path = path
        self._hub = hub
        self._sign_in = sign_in
        self._settings = Settings()
        self._observers = ListenerList[SettingsObserver]("the settings")

    def load(self) -> None:
        """Read the file.  Invalid content does not raise; the defaults are used instead."""
        remove_temporary_files(self._path)
        # The file may contain the API key of a third party.
        with suppress(OSError):
            if restrict_to_owner(self._path):
                self._log.warn("{name} was open to other users", name=self._path.name)
        try:
            self._settings = self._parse_settings_logging_faults(self._read_file())
        except (FileError, OSError) as error:
            self._log.error(
                "{error}; the default settings are in use and changes are refused", error=str(error)
            )

    def get(self) -> Settings:
        return self._settings

    def add_observer(self, observer: SettingsObserver) -> Callable[[], None]:
        return self._observers.add(observer)

    def change_settings(self, patch: Mapping[str, Any]) -> Settings:
        """Merge C{patch} into the file, and return the new settings; they are on disk then.

        @param patch: the result of L{tservice.settings.model.list_changed_values} for a validated
            body.
        @raise ServiceError: nothing is changed.  403: the change would open a tunnel without a
            password; 409: the file cannot be read safely; 422: the file cannot be written.
        """
        if patch.get("tunnelEnabled") and not self._sign_in.allows_tunnel:
            raise ServiceError(
                ErrorCode.FORBIDDEN,
                "tunnelEnabled: a tunnel needs a password; set one on the page or by"
                " SERVICE_PASSWORD, or configure the service to allow an unauthenticated network",
            )
        try:
            merged = merge_patch(self._read_file(), patch)
        except (FileError, OSError) as error:
            raise make_conflict_error(f"{error}; repair the file first") from error
        settings = self._parse_settings_logging_faults(merged)
        self._write_file(merged)
        before, self._settings = self._settings, settings
        self._notify_observers(before, settings)
        return settings

    def _read_file(self) -> dict[str, Any]:
        """Return the JSON object in the file; an empty one if the file does not exist."""
        try:
            data = read_json(self._path)
        except FileNotFoundError:
            return {}
        if not isinstance(data, dict):
            raise UnparsableFile(f"{self._path.name}: must hold one JSON object")
        return data

    def _write_file(self, data: Mapping[str, Any]) -> None:
        try:
            write_private_file(self._path, json.dumps(data, indent=2) + "\n")
        except FileError as error:
            raise make_conflict_error(f"{error}; repair the file first") from error
        except OSError as error:
            why = find_disk_problem(error) or error.strerror
            raise make_failure_error(f"{self._path.name} could not be written: {why}") from error

    def _parse_settings_logging_faults(self, stored: Mapping[str, Any]) -> Settings:
        settings, faults = parse_stored_settings(stored)
        for fault in faults:
            self._log.warn("{name}: {fault}; ignored", name=self._path.name, fault=fault)
        if settings.tunnel_enabled and not self._sign_in.allows_tunnel:
            # The password may have been removed since the tunnel was switched on.
            self._log.warn("tunnelEnabled: ignored, because anybody could use the tunnel")
            return settings.model_copy(update={"tunnel_enabled": False})
        return settings

    def _notify_observers(self, before: Settings, after: Settings) -> None:
        self._observers.notify_all(lambda observer: observer(before, after))
        self._hub.publish(
            Event(name=EventName.SETTINGS_CHANGED, payload=make_public_settings(after))
        )
