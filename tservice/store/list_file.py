"""Private file of the data folder that holds one list of records."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from attrs import frozen

from tservice.core.disk_errors import find_disk_problem
from tservice.core.errors import ServiceError, operation_failed, state_conflict
from tservice.core.files import (
    FileError,
    UnparsableFile,
    read_json,
    remove_leftovers,
    write_private,
)

T = TypeVar("T")


@frozen(kw_only=True)
class JsonListFile(Generic[T]):
    """Reads and writes the file, mode 0600; for a thread.

    @ivar named: the name of the list in the file's one object.
    @ivar size: maximum bytes to read.
    @ivar most: maximum records to read.
    @ivar parse: returns a record from its value; raises C{ValueError} and the like for a bad one.
    @ivar shown: returns the value of a record.
    """

    path: Path
    list_name: str
    size: int
    max_records: int
    parse: Callable[[Any], T]
    shown: Callable[[T], dict[str, Any]]

    def remove_partial_files(self) -> None:
        """Remove the partly written files of a killed process; called at the start."""
        remove_leftovers(self.path)

    def read_records(self) -> tuple[T, ...]:
        """Return the records; none without a file.

        @raise FileError: the file cannot be used: open to others, broken, or with a bad value.
        @raise OSError: it cannot be read.
        """
        try:
            data = read_json(self.path, private=True, limit=self.size)
        except FileNotFoundError:
            return ()
        try:
            return tuple(self.parse(item) for item in data[self.list_name][: self.max_records])
        except (KeyError, TypeError, ValueError, AttributeError, ServiceError):
            # Omit the cause: a record may contain secrets.
            text = f"{self.path.name}: the list {self.list_name} is missing or malformed"
            raise UnparsableFile(text) from None

    def write_records(self, records: Sequence[T]) -> None:
        """Replace the file; it is on disk when this returns.

        @raise ServiceError: 409: the existing file is not valid; 422: disk trouble.
        """
        text = json.dumps({self.list_name: [self.shown(each) for each in records]}, indent=1)
        try:
            # An existing invalid file must be repaired by the operator, not overwritten.
            self.read_records()
            write_private(self.path, text + "\n")
        except FileError as error:
            raise state_conflict(f"{error}; repair the file first") from error
        except OSError as error:
            why = find_disk_problem(error) or error.strerror
            raise operation_failed(f"{self.path.name} could not be written: {why}") from error
