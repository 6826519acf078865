"""Upload forms, written to disk while they arrive (protocol-uploads).

Each file is written to a temporary file in its target folder. The files get their final names once
the whole form has arrived and every file is valid. Thus a form stores all of its files or none.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from contextlib import ExitStack, suppress

from attrs import define, field, frozen
from multipart import (
    MultipartError,
    MultipartSegment,
    PushMultipartParser,
    parse_options_header,
)

from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_failure_error,
    make_field_error,
)
from tservice.files.model import (
    FREE_BYTES,
    FREE_PERCENT,
    HEAD_BYTES,
    detect_image_type,
    get_claimed_image_type,
    sanitize_file_name,
)
from tservice.files.renaming import rename_exclusively

FORM = "multipart/form-data"

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MODE = 0o644
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

IGNORE_FILE = b".gitignore"
IGNORE = b"*\n"


@frozen(kw_only=True)
class UploadRules:
    """Rules for the contents of a form.

    @ivar field: the only permitted field name.
    @ivar most: maximum number of files; C{size} is the maximum size of each in bytes.
    @ivar kind: C{paste}, C{upload} or C{screenshot}, used as prefix of generated names.
    @ivar images: true to accept images only, and to generate their names.
    """

    field: str
    most: int
    size: int
    kind: str
    images: bool = False


@frozen(kw_only=True)
class StoredUpload:
    """Uploaded file that was stored."""

    filename: str
    size: int


def parse_boundary(content_type: str | None) -> str:
    """Return the boundary in the C{Content-Type} of a form.

    @raise ServiceError: 400 if the content type is not C{multipart/form-data}.
    """
    kind, options = parse_options_header(content_type or "")
    boundary: str = options.get("boundary", "")
    if kind != FORM or not 1 <= len(boundary) <= 200 or not boundary.isascii():
        raise make_field_error("content-type", f"must be {FORM} with a boundary")
    return boundary


@define
class _ArrivingFile:
    """File of a form that is still being received.

    @ivar temporary: name of the temporary file; C{name} is the file name as sent.
    """

    temporary: bytes
    name: str
    descriptor: int
    size: int = 0
    head: bytes = b""

    def append(self, data: bytes) -> None:
        if len(self.head) < HEAD_BYTES:
            self.head += data[: HEAD_BYTES - len(self.head)]
        left = memoryview(data)
        while left:
            left = left[os.write(self.descriptor, left) :]
        self.size += len(data)


@define(eq=False)
class UploadReceiver:
    """Receiver of one form. Its methods block, and run in a worker thread.

    @ivar now: returns Unix milliseconds for generated names.
    """

    rules: UploadRules
    now: Callable[[], int]
    _parser: PushMultipartParser
    _folder: int = -1
    _files: list[_ArrivingFile] = field(factory=list)
    _open: _ArrivingFile | None = None

    @classmethod
    def create(cls, boundary: str, rules: UploadRules, now: Callable[[], int]) -> UploadReceiver:
        """Create a receiver for a form with this boundary.

        @param now: returns Unix milliseconds.
        """
        parser = PushMultipartParser(boundary, max_segment_count=rules.most + 1)
        return cls(rules, now, parser)

    def open_folder(self, held: ExitStack, folder: int) -> None:
        """Start to write into the folder with descriptor C{folder}.

        @param held: stack that closes the folder and removes unfinished files.
        @param folder: descriptor, which the receiver owns from now on.
        @raise ServiceError: 422 if the disk has too little free space.
        """
        self._folder = folder
        held.callback(self._discard_files)
        check_free_space(os.fstatvfs(folder))

    def process_bytes(self, data: bytes) -> None:
        """Process the next bytes of the form.

        @raise ServiceError: 400 or 413 if the form is invalid; 422 if the disk has too little free
            space.
        @raise OSError: the disk failed.
        """
        check_free_space(os.fstatvfs(self._folder))
        try:
            for event in self._parser.parse(data):
                if isinstance(event, MultipartSegment):
                    self._start_file(event)
                elif event is None:
                    self._finish_file()
                else:
                    self._append_data(event)
        except MultipartError as error:
            raise _malformed_error(error) from error

    def store_files(self) -> list[StoredUpload]:
        """Give the received files their final names, after the last byte of the form.

        @raise ServiceError: 400 if the form is incomplete or contains no file.
        """
        try:
            self._parser.close()
        except MultipartError as error:
            raise _malformed_error(error) from error
        if not self._files:
            raise make_field_error(self.rules.field, "is required")
        kept: list[StoredUpload] = []
        try:
            for file in tuple(self._files):
                name = self._final_name(file)
                rename_exclusively(self._folder, file.temporary, name.encode())
                self._files.remove(file)
                kept.append(StoredUpload(filename=name, size=file.size))
        except OSError:
            for each in kept:
                os.unlink(each.filename.encode(), dir_fd=self._folder)
            raise
        return kept

    # # -- parts of the form

    def _start_file(self, segment: MultipartSegment) -> None:
        rules = self.rules
        if segment.name != rules.field:
            name = (segment.name or "name").encode("utf-8", "replace").decode()
            raise make_field_error(
                "".join(filter(str.isprintable, name))[:64], "is not a known field"
            )
        if segment.filename is None:
            raise make_field_error(rules.field, "must be a file")
        if len(self._files) >= rules.most:
            raise self._too_many()
        temporary = _temporary_name()
        descriptor = os.open(temporary, _NEW, 0o600, dir_fd=self._folder)
        self._open = _ArrivingFile(temporary, sanitize_file_name(segment.filename), descriptor)
        self._files.append(self._open)

    def _append_data(self, data: bytes | bytearray) -> None:
        file = self._open
        if file is None:
            raise make_field_error(self.rules.field, "must be a file")
        if file.size + len(data) > self.rules.size:
            text = f"{self.rules.field}: must be at most {self.rules.size} bytes"
            raise ServiceError(ErrorCode.PAYLOAD_TOO_LARGE, text)
        begun = len(file.head) < HEAD_BYTES
        file.append(bytes(data))
        if begun and len(file.head) >= HEAD_BYTES:
            self._check_type(file)

    def _finish_file(self) -> None:
        file, self._open = self._open, None
        if file is not None:
            self._check_type(file)
            os.fchmod(file.descriptor, _MODE)
            descriptor, file.descriptor = file.descriptor, -1
            os.close(descriptor)

    def _check_type(self, file: _ArrivingFile) -> None:
        """Refuse a file whose contents do not match its type.

        @raise ServiceError: 400 if the contents do not match.
        """
        found, promised = detect_image_type(file.head), get_claimed_image_type(file.name)
        if self.rules.images and found is None:
            raise make_field_error(
                self.rules.field, "must be a png, jpg, gif, webp, bmp or heic image"
            )
        if not self.rules.images and promised is not None and found != promised:
            raise make_field_error(
                self.rules.field, f"is named as a {promised} image, but is not one"
            )

    def _final_name(self, file: _ArrivingFile) -> str:
        mark = f"{self.rules.kind}-{self.now()}-{secrets.token_hex(4)}"
        if self.rules.images:
            return f"{mark}.{detect_image_type(file.head)}"
        return f"{mark}-{file.name}"

    def _too_many(self) -> ServiceError:
        return make_field_error(self.rules.field, f"must be at most {self.rules.most} files")

    def _discard_files(self) -> None:
        for file in self._files:
            if file.descriptor >= 0:
                os.close(file.descriptor)
            with suppress(OSError):
                os.unlink(file.temporary, dir_fd=self._folder)
        self._files.clear()
        if self._folder >= 0:
            os.close(self._folder)
            self._folder = -1


def check_free_space(told: os.statvfs_result) -> None:
    """Refuse an upload if the disk is nearly full.

    A file system that reports no size is assumed to have space.

    @param told: result of C{fstatvfs} for the target folder.
    @raise ServiceError: 422 if there is too little free space.
    """
    least = max(FREE_BYTES, told.f_blocks * told.f_frsize * FREE_PERCENT // 100)
    if told.f_blocks and told.f_bavail * told.f_frsize < least:
        raise make_failure_error(
            f"the disk is nearly full: less than {FREE_BYTES // 10**9} GB or {FREE_PERCENT} % of it"
            " is free; free some space there and upload it again"
        )


def open_uploads_folder(workspace: int, name: str) -> int:
    """Open the uploads folder of a workspace, and create it if it is missing.

    @param workspace: descriptor of the workspace folder.
    @return: descriptor of the uploads folder.
    @raise ServiceError: 400 if the name is in use for something that is not a folder.
    @raise OSError: the folder cannot be created.
    """
    raw = name.encode()
    with suppress(FileExistsError):
        os.mkdir(raw, 0o755, dir_fd=workspace)
    try:
        folder = os.open(raw, _FOLDER, dir_fd=workspace)
    except (NotADirectoryError, OSError) as error:
        if isinstance(error, (PermissionError, FileNotFoundError)):
            raise
        raise make_field_error("path", f"{name} in the workspace must be a folder") from error
    try:
        _write_gitignore(folder)
    except BaseException:
        os.close(folder)
        raise
    return folder


def _write_gitignore(folder: int) -> None:
    """Create a C{.gitignore} that excludes everything in C{folder}. The file is written
    atomically.
    """
    with suppress(FileNotFoundError):
        os.stat(IGNORE_FILE, dir_fd=folder, follow_symlinks=False)
        return
    temporary = _temporary_name()
    with open(os.open(temporary, _NEW, _MODE, dir_fd=folder), "wb") as stream:
        try:
            stream.write(IGNORE)
            stream.flush()
            with suppress(FileExistsError):
                rename_exclusively(folder, temporary, IGNORE_FILE)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=folder)


def _temporary_name() -> bytes:
    return f".upload-{secrets.token_hex(8)}.part".encode()


def _malformed_error(error: MultipartError) -> ServiceError:
    return make_field_error("body", f"must be a whole {FORM}: {str(error)[:100].lower()}")
