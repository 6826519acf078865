"""Configuration file C{<data>/webhook.json}, whose URL is a secret."""

from __future__ import annotations

import json
from pathlib import Path

import attrs

from tservice.core.disk_errors import find_disk_problem
from tservice.core.errors import operation_failed, state_conflict
from tservice.core.files import (
    FileError,
    UnparsableFile,
    read_json,
    remove_leftovers,
    write_private,
)
from tservice.notify.model import MessageScope, ReceiverKind, WebhookConfig

FILE_NAME = "webhook.json"


class WebhookConfigFile:
    """Reads and writes the file, mode 0600, outside the synced settings (protocol-webhooks)."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME

    def remove_partial_files(self) -> None:
        """Remove the partly written files of a killed process; called at the start."""
        remove_leftovers(self._path)

    def read_config(self) -> WebhookConfig:
        """Return the configuration; the default one without a file.

        @raise FileError: the file cannot be used: open to others, broken, or with a bad value.
        @raise OSError: it cannot be read.
        """
        try:
            data = read_json(self._path, private=True)
        except FileNotFoundError:
            return WebhookConfig()
        try:
            enabled, url = data["enabled"], data["url"]
            kind, scope = ReceiverKind(data["kind"]), MessageScope(data["scope"])
        except (KeyError, TypeError, ValueError):
            enabled = url = None
        if not isinstance(enabled, bool) or not isinstance(url, str):
            raise UnparsableFile(f"{FILE_NAME}: must hold enabled, kind, scope and url")
        return WebhookConfig(enabled=enabled, kind=kind, scope=scope, url=url)

    def write_config(self, webhook: WebhookConfig) -> None:
        """Replace the file; it is on disk when this returns.

        @raise ServiceError: 409: the existing file is not valid; 422: disk trouble.
        """
        try:
            # An existing invalid file must be repaired by the operator, not overwritten.
            self.read_config()
            write_private(self._path, json.dumps(attrs.asdict(webhook), indent=2) + "\n")
        except FileError as error:
            raise state_conflict(f"{error}; repair the file first") from error
        except OSError as error:
            why = find_disk_problem(error) or error.strerror
            raise operation_failed(f"{FILE_NAME} could not be written: {why}") from error
