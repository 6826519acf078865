"""The settings file and the settings in use."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from twisted.logger import Logger
from zope.interface import implementer

from tservice.core.config.model import Config
from tservice.core.disk import trouble
from tservice.core.errors import ErrorCode, ServiceError, conflict, failed
from tservice.core.events import Event, EventHub, EventName
from tservice.core.files import (
    FileError,
    UnparsableFile,
    close_to_others,
    read_json,
    remove_leftovers,
    write_private,
)
from tservice.core.listeners import Listeners
from tservice.settings.interfaces import IChangingSettings, ISettings, SettingsObserver
from tservice.settings.model import Settings, merge, public, read_settings


@implementer(ISettings, IChangingSettings)
class SettingsService:
    """Keeps C{<data>/settings.json}.

    People edit the file too: it is read again before every change, what the service does not
    know in it stays, and a key with a bad value falls back to its default.  A file that cannot
    be used at all (broken JSON, not a regular file) is left alone: the defaults are in use, the log
    says why, and every change is refused with a 409 until it is mended.  A symbolic link is read,
    and changes are refused in the same way.
    """

    _log = Logger()

    def __init__(self, path: Path, hub: EventHub, config: Config) -> None:
        self._path = path
        self._hub = hub
        self._tunnel_allowed = config.has_login or config.allow_unauthenticated_network
        self._settings = Settings()
        self._observers = Listeners[SettingsObserver]("the settings")

    def load(self) -> None:
        """Read the file; never raises for what is in it."""
        remove_leftovers(self._path)
        # A key of a third party may be in it.
        with suppress(OSError):
            if close_to_others(self._path):
                self._log.warn("{name} was open to other users", name=self._path.name)
        try:
            self._settings = self._read_settings(self._read())
        except (FileError, OSError) as error:
            self._log.error(
                "{error}; the default settings are in use and changes are refused", error=str(error)
            )

    def get(self) -> Settings:
        return self._settings

    def observe(self, observer: SettingsObserver) -> Callable[[], None]:
        return self._observers.add(observer)

    def change(self, patch: Mapping[str, Any]) -> Settings:
        """Merge C{patch} into the file; it is on the disk when this returns.

        @param patch: what L{tservice.settings.model.changes} made of a checked body.
        @raise ServiceError: 403 for a tunnel that anybody could use; 409 when the file cannot
            be read safely; 422 when it cannot be written.  Nothing is changed then.
        """
        if patch.get("tunnelEnabled") and not self._tunnel_allowed:
            raise ServiceError(
                ErrorCode.FORBIDDEN,
                "tunnelEnabled: a tunnel needs a password, or the service must be told to allow"
                " an unauthenticated network",
            )
        try:
            merged = merge(self._read(), patch)
        except (FileError, OSError) as error:
            raise conflict(f"{error}; mend the file first") from error
        settings = self._read_settings(merged)
        self._write(merged)
        before, self._settings = self._settings, settings
        self._tell(before, settings)
        return settings

    def _read(self) -> dict[str, Any]:
        """The object in the file; empty when there is no file."""
        try:
            data = read_json(self._path)
        except FileNotFoundError:
            return {}
        if not isinstance(data, dict):
            raise UnparsableFile(f"{self._path.name}: must hold one JSON object")
        return data

    def _write(self, data: Mapping[str, Any]) -> None:
        try:
            write_private(self._path, json.dumps(data, indent=2) + "\n")
        except FileError as error:
            raise conflict(f"{error}; mend the file first") from error
        except OSError as error:
            why = trouble(error) or error.strerror
            raise failed(f"{self._path.name} could not be written: {why}") from error

    def _read_settings(self, stored: Mapping[str, Any]) -> Settings:
        settings, faults = read_settings(stored)
        for fault in faults:
            self._log.warn("{name}: {fault}; not used", name=self._path.name, fault=fault)
        if settings.tunnel_enabled and not self._tunnel_allowed:
            # The password may have been taken away since the tunnel was switched on.
            self._log.warn("tunnelEnabled: not used, for anybody could come through")
            return settings.model_copy(update={"tunnel_enabled": False})
        return settings

    def _tell(self, before: Settings, after: Settings) -> None:
        self._observers.tell(lambda observer: observer(before, after))
        self._hub.publish(Event(name=EventName.SETTINGS_CHANGED, payload=public(after)))
