"""Private JSON file in the data folder that holds one list of records."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from attrs import frozen

from tservice.core.disk.disk_errors import find_disk_problem
from tservice.core.disk.files import (
    FileError,
    UnparsableFile,
    read_json,
    remove_temporary_files,
    write_private_file,
)
from tservice.core.kernel.errors import ServiceError, make_conflict_error, make_failure_error

T = TypeVar("T")


@frozen(kw_only=True)
class JsonListFile(Generic[T]):
    """Reader and writer of a JSON file with one list; call it in a worker thread.

    @ivar list_name: the key of the list in the file's JSON object.
    @ivar size: maximum number of bytes to read.
    @ivar max_records: maximum number of records to read.
    @ivar parse: returns the record for an item of the list; raises C{ValueError} or a similar error
        for an invalid item.
    @ivar shown: returns the item of the list for a record.
    """

    path: Path
    list_name: str
    size: int
    max_records: int
    parse: Callable[[Any], T]
    shown: Callable[[T], dict[str, Any]]

    def remove_partial_files(self) -> None:
        """Remove partly written files that a killed process left; call this at the start."""
        remove_temporary_files(self.path)

    def read_records(self) -> tuple[T, ...]:
        """Return the records in the file; an empty tuple if there is no file.

        @raise FileError: the file is accessible to others, is not valid JSON, or holds an invalid
            record.
        @raise OSError: the file cannot be read.
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

        @raise ServiceError: 409: the existing file is invalid and not overwritten; 422: the disk
            refuses the write.
        """
        text = json.dumps({self.list_name: [self.shown(each) for each in records]}, indent=1)
        try:
            # An existing invalid file must be repaired by the operator, not overwritten.
            self.read_records()
            write_private_file(self.path, text + "\n")
        except FileError as error:
            raise make_conflict_error(f"{error}; repair the file first") from error
        except OSError as error:
            why = find_disk_problem(error) or error.strerror
            raise make_failure_error(f"{self.path.name} could not be written: {why}") from error
