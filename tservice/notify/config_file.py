"""Configuration file C{<data>/webhook.json}.  The URL in it is a secret."""

from __future__ import annotations

import json
from pathlib import Path

import attrs

from tservice.core.disk.disk_errors import find_disk_problem
from tservice.core.disk.files import (
    FileError,
    UnparsableFile,
    read_json,
    remove_temporary_files,
    write_private_file,
)
from tservice.core.kernel.errors import make_conflict_error, make_failure_error
from tservice.notify.model import MessageScope, ReceiverKind, WebhookConfig

FILE_NAME = "webhook.json"


class WebhookConfigFile:
    """Reader and writer of the configuration file, which has mode 0600 (protocol-webhooks).

    The file is not part of the settings that clients synchronise.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME

    def remove_partial_files(self) -> None:
        """Remove partly written files of a killed process.  Call this at the start."""
        remove_temporary_files(self._path)

    def read_config(self) -> WebhookConfig:
        """Return the configuration in the file, or the default one if there is no file.

        @raise FileError: other users can access the file, or its content is not valid.
        @raise OSError: the file cannot be read.
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
        """Replace the file and flush it to the disk.

        @raise ServiceError: 409: the existing file is not valid; 422: the file cannot be written.
        """
        try:
            # An existing invalid file must be repaired by the operator, not overwritten.
            self.read_config()
            write_private_file(self._path, json.dumps(attrs.asdict(webhook), indent=2) + "\n")
        except FileError as error:
            raise make_conflict_error(f"{error}; repair the file first") from error
        except OSError as error:
            why = find_disk_problem(error) or error.strerror
            raise make_failure_error(f"{FILE_NAME} could not be written: {why}") from error
