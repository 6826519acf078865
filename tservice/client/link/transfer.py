"""Downloads from and uploads to a service, in chunks."""

from __future__ import annotations

import contextlib
import http.client
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from tservice.client.errors import Unusable, unwrap_envelope
from tservice.client.link.address import ServiceAddress
from tservice.client.link.caller import BOUND, TIMEOUT, ResponseLost, build_target
from tservice.client.link.connection import HttpConnection, explain_error

PIECE = 256 * 1024


class DownloadedFile:
    """Download in progress.

    @ivar name: file name that the service gives, without any folder.
    """

    def __init__(self, answer: http.client.HTTPResponse, address: ServiceAddress) -> None:
        self._answer, self._address = answer, address
        self.name = _parse_filename(answer.headers.get("Content-Disposition", ""))

    def write_to(self, file: IO[bytes]) -> int:
        """Write the rest of the download to C{file}, and return the size in bytes.

        @raise Lost: the connection was lost before the end.
        @raise OSError: C{file} cannot be written.
        """
        size = 0
        while piece := self._read_chunk():
            file.write(piece)
            size += len(piece)
        if self._answer.length:
            raise ResponseLost("the download was cut short")
        return size

    def _read_chunk(self) -> bytes:
        with _translate_errors(self._address):
            return self._answer.read(PIECE)


@contextlib.contextmanager
def open_download(
    address: ServiceAddress, path: str, query: Mapping[str, object]
) -> Iterator[DownloadedFile]:
    """Request a file, and yield the download for the block.

    @raise ApiError: the service refused.
    @raise Lost: no response arrived.
    """
    with contextlib.closing(HttpConnection(address, TIMEOUT)) as connection:
        with _translate_errors(address):
            connection.request(
                "GET", address.base + build_target(path, query), headers=_auth_headers(address)
            )
            answer = connection.getresponse()
        if answer.status != 200:
            unwrap_envelope(answer.status, answer.read(BOUND))
        yield DownloadedFile(answer, address)


def upload_files(address: ServiceAddress, path: str, field: str, files: Sequence[Path]) -> Any:
    """Send C{files} as one form, and return the payload of the response.

    @param field: name of the form field.
    @raise Unusable: a file cannot be read.
    @raise ApiError: the service refused.
    @raise Lost: no response arrived.
    """
    boundary = secrets.token_hex(16)
    with contextlib.ExitStack() as held:
        opened = [held.enter_context(_open_file(file)) for file in files]
        heads = [
            _part_head(boundary, field, file.name, first=not at) for at, file in enumerate(files)
        ]
        end = f"\r\n--{boundary}--\r\n".encode()
        sizes = [os.fstat(stream.fileno()).st_size for stream in opened]
        headers = {
            "Content-Type": f"multipart/form-data; boundary={boundary}",
            "Content-Length": str(sum(map(len, heads)) + sum(sizes) + len(end)),
            **_auth_headers(address),
        }
        connection = held.enter_context(contextlib.closing(HttpConnection(address, TIMEOUT)))
        with _translate_errors(address):
            # The server may refuse a body half-way: its answer is read though the rest cannot be
            # sent.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                body = _form_chunks(heads, opened, sizes, end)
                connection.request("POST", address.base + build_target(path, {}), body, headers)
            answer = connection.getresponse()
            return unwrap_envelope(answer.status, answer.read(BOUND))


def _form_chunks(
    heads: Sequence[bytes], opened: Sequence[IO[bytes]], sizes: Sequence[int], end: bytes
) -> Iterator[bytes]:
    for head, stream, size in zip(heads, opened, sizes, strict=True):
        yield head
        left = size
        while left:
            piece = stream.read(min(PIECE, left))
            if not piece:
                raise Unusable(f"{stream.name} became shorter during the upload")
            left -= len(piece)
            yield piece
    yield end


def _part_head(boundary: str, field: str, name: str, *, first: bool) -> bytes:
    plain = "".join("_" if sign in '"\\\r\n' else sign for sign in name)
    words = f'Content-Disposition: form-data; name="{field}"; filename="{plain}"\r\n\r\n'
    before = "" if first else "\r\n"
    return f"{before}--{boundary}\r\n{words}".encode("utf-8", "replace")


def _open_file(path: Path) -> IO[bytes]:
    try:
        if not path.is_file():
            raise Unusable(f"{path} is not a file")
        return path.open("rb")
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}") from None


def _parse_filename(disposition: str) -> str:
    """Return a safe file name from a C{Content-Disposition} header, which may contain anything."""
    from email.message import Message

    message = Message()
    message["Content-Disposition"] = disposition
    name = (message.get_filename() or "").replace("\\", "/").rpartition("/")[2]
    clean = "".join(sign if sign.isprintable() else "_" for sign in name)
    return clean if clean.strip(". ") else "download"


def _auth_headers(address: ServiceAddress) -> dict[str, str]:
    return {"Authorization": address.authorization} if address.authorization else {}


@contextlib.contextmanager
def _translate_errors(address: ServiceAddress) -> Iterator[None]:
    try:
        yield
    except (OSError, http.client.HTTPException) as error:
        raise ResponseLost(explain_error(error, address)) from None
