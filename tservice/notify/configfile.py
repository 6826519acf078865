"""C{<data>/webhook.json}: the configuration, whose URL is a secret."""

from __future__ import annotations

import json
from pathlib import Path

import attrs

from tservice.core.disk import trouble
from tservice.core.errors import conflict, failed
from tservice.core.files import (
    FileError,
    UnparsableFile,
    read_json,
    remove_leftovers,
    write_private,
)
from tservice.notify.model import MessageScope, ReceiverKind, Webhook

FILE_NAME = "webhook.json"


class ConfigFile:
    """Reads and writes the file, mode 0600, outside the synced settings (protocol-webhooks)."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME

    def tidy(self) -> None:
        """Remove what a killed process left half written; at the start."""
        remove_leftovers(self._path)

    def read(self) -> Webhook:
        """The configuration; the default one when there is no file.

        @raise FileError: the file cannot be used: open to others, broken, or with a bad value.
        @raise OSError: it cannot be read.
        """
        try:
            data = read_json(self._path, private=True)
        except FileNotFoundError:
            return Webhook()
        try:
            enabled, url = data["enabled"], data["url"]
            kind, scope = ReceiverKind(data["kind"]), MessageScope(data["scope"])
        except (KeyError, TypeError, ValueError):
            enabled = url = None
        if not isinstance(enabled, bool) or not isinstance(url, str):
            raise UnparsableFile(f"{FILE_NAME}: must hold enabled, kind, scope and url")
        return Webhook(enabled=enabled, kind=kind, scope=scope, url=url)

    def write(self, webhook: Webhook) -> None:
        """Replace the file; it is on the disk when this returns.

        @raise ServiceError: 409: there is something else than a file of ours; 422: disk trouble.
        """
        try:
            # A file that was there and could not be used is somebody's to mend, not ours to lose.
            self.read()
            write_private(self._path, json.dumps(attrs.asdict(webhook), indent=2) + "\n")
        except FileError as error:
            raise conflict(f"{error}; mend the file first") from error
        except OSError as error:
            why = trouble(error) or error.strerror
            raise failed(f"{FILE_NAME} could not be written: {why}") from error
