"""Routes that send or receive files: downloads, uploads and followed files (protocol-files,
protocol-uploads).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import aclosing
from email.utils import formatdate
from functools import partial
from typing import Any, Literal
from urllib.parse import quote

from pydantic import Field

from tservice.core.kernel.errors import ErrorCode, make_failure_error
from tservice.core.kernel.scopes import READS_FILES, SAVES_UPLOADS
from tservice.files.file_links import FileLinks
from tservice.files.model import (
    FORM_SPARE,
    IMAGE_BYTES,
    UPLOAD_BYTES,
    UPLOAD_FILES,
    Workspace,
)
from tservice.files.reading.followers import HEARTBEAT
from tservice.files.reading.open_files import OpenFile, OpenFolder
from tservice.files.routes import PATH, WorkspaceOf
from tservice.files.service import FILES, IMAGE, FilesService, build_upload_path
from tservice.http.envelope import dump_json, make_bare_refusal
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, OperationCall, ResponseStyle, Scope
from tservice.http.transfer.byte_ranges import (
    UnsatisfiableRange,
    matches_any_tag,
    may_be_partial,
    parse_range,
)
from tservice.http.transfer.streamed_response import StreamedResponse
from tservice.http.validation.models import QueryBool, QueryInt, QueryParameters, ResponseModel

CONTENT_SECURITY_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src 'self'; "
    "frame-ancestors 'self'"
)
"""Content security policy of downloaded files. Their scripts do not run, and they have no
origin.
"""

_FAULTS = (ErrorCode.INVALID_INPUT, ErrorCode.FORBIDDEN, ErrorCode.RATE_LIMITED)


class RawQuery(QueryParameters):
    """Query for a file; C{download}: the browser saves it instead of displaying it."""

    path: PATH
    download: QueryBool = False


class TailQuery(QueryParameters):
    """Query for a file to follow. The first message has its last C{lines}, clamped to 0 to 1000."""

    path: PATH
    lines: QueryInt = 50


class DownloadQuery(QueryParameters):
    """Query for a file or folder of a session."""

    session_id: str
    path: PATH = "."


class KeptImageAnswer(ResponseModel):
    """Uploaded image. C{insert} is the text that gives it to the session's agent in a prompt."""

    path: str = Field(description="Absolute")
    filename: str
    insert: str
    attachment: Literal["path", "at", "paste"] = Field(
        description="paste: an image is entered as a bracketed paste of only insert"
    )


class UploadedFileAnswer(KeptImageAnswer):
    """Uploaded file."""

    size: int


class UploadsAnswer(ResponseModel):
    """Uploaded files of a form."""

    files: list[UploadedFileAnswer]


_DOWNLOADS = OperationFields(
    tag="Files",
    access=AccessRule.OWNER,
    scope=Scope.SESSIONS_INPUT,
    scope_reason=READS_FILES,
    style=ResponseStyle.STREAM,
    media_type="application/octet-stream",
    errors=_FAULTS,
)
_UPLOADS = OperationFields(
    tag="Files",
    access=AccessRule.OWNER,
    scope=Scope.SESSIONS_INPUT,
    scope_reason=SAVES_UPLOADS,
    streams=True,
    errors=(*_FAULTS, ErrorCode.OPERATION_FAILED),
)


class TransferRoutes:
    """Operations that send or receive files.

    @param of_caller: returns the workspace of the session given in a query. It fails with 404 if
        the session does not belong to the caller.
    @param insert: returns the text for a path that the session's agent expects in a prompt.
    """

    def __init__(
        self,
        files: FilesService,
        workspace_of: WorkspaceOf,
        of_caller: Callable[[OperationCall, str], Workspace],
        links: FileLinks,
        insert: Callable[[str, str], Mapping[str, str]],
    ) -> None:
        self._files, self._workspace_of, self._of_caller = files, workspace_of, of_caller
        self._links, self._insert = links, insert

    @operation(
        "GET",
        "/api/sessions/{id}/file-raw",
        _DOWNLOADS,
        errors=(ErrorCode.OPERATION_FAILED,),
    )
    async def send_raw(self, call: OperationCall, query: RawQuery) -> None:
        """Read the bytes of a file, with ranges."""
        workspace = self._workspace_of(call.id)
        with self._files.count_transfer(workspace):
            opened = await self._files.open_entry(workspace, query.path)
            await send_opened(call, opened, save=query.download)

    @operation(
        "GET",
        "/api/download",
        _DOWNLOADS,
        access=AccessRule.USER,
        errors=(ErrorCode.NOT_FOUND,),
    )
    async def send_download(self, call: OperationCall, query: DownloadQuery) -> None:
        """Download a file, or a folder as .tar.gz without its secrets."""
        workspace = self._of_caller(call, query.session_id)
        with self._files.count_transfer(workspace):
            opened = await self._files.open_entry(workspace, query.path, folders=True)
            await send_opened(call, opened, save=True)

    @operation(
        "GET",
        "/api/file-link/{word}",
        _DOWNLOADS,
        access=AccessRule.CAPABILITY,
        scope=None,
        scope_reason=(
            "The token in the path opens one file for ten minutes. The caller's identity "
            "is not checked."
        ),
        errors=(ErrorCode.UNAUTHORIZED,),
    )
    async def send_linked(self, call: OperationCall) -> None:
        """Open a file by its address."""
        word = call.path["word"]
        link = self._links.find_link(word)
        if link is None:
            raise make_bare_refusal(401, "Unauthorized: this link has expired")
        workspace = self._workspace_of(link.session_id)
        with self._files.count_transfer(workspace):
            opened = await self._files.open_entry(workspace, link.path, folders=link.download)
            # The end of a token is not signalled, so it is checked for each chunk.
            still = partial(self._links.is_valid, word)
            await send_opened(call, opened, save=link.download, still=still)

    @operation(
        "GET",
        "/api/sessions/{id}/tail-file",
        _DOWNLOADS,
        media_type="text/event-stream",
        errors=(ErrorCode.OPERATION_FAILED,),
    )
    async def follow_file(self, call: OperationCall, query: TailQuery) -> None:
        """Follow a file, as an event stream."""
        messages = self._files.follow_file(self._workspace_of(call.id), query.path, query.lines)
        answer = StreamedResponse(call.request)
        begun = False
        try:
            async with aclosing(messages):  # type: ignore[type-var]
                async for message in messages:
                    if not begun:
                        begun = True
                        answer.write_head(200, _EVENTS)
                        if answer.head_only:
                            return
                    await answer.write(_encode_event(message))
        finally:
            answer.close()

    @operation(
        "POST",
        "/api/sessions/{id}/uploads",
        _UPLOADS,
        body_limit=UPLOAD_FILES * UPLOAD_BYTES + FORM_SPARE,
    )
    async def receive_files(self, call: OperationCall) -> UploadsAnswer:
        """Upload files to the workspace."""
        workspace, kind = self._workspace_of(call.id), call.get_header("content-type")
        kept = await self._files.receive_upload(
            workspace, kind, call.incoming.read_data, FILES, account=call.caller.username
        )
        return UploadsAnswer(
            files=[
                UploadedFileAnswer(
                    **self._make_uploaded_fields(call, workspace, each.filename), size=each.size
                )
                for each in kept
            ]
        )

    @operation(
        "POST", "/api/sessions/{id}/paste-image", _UPLOADS, body_limit=IMAGE_BYTES + FORM_SPARE
    )
    async def receive_image(self, call: OperationCall) -> KeptImageAnswer:
        """Upload an image to the workspace."""
        workspace, kind = self._workspace_of(call.id), call.get_header("content-type")
        kept = await self._files.receive_upload(
            workspace, kind, call.incoming.read_data, IMAGE, account=call.caller.username
        )
        return KeptImageAnswer(**self._make_uploaded_fields(call, workspace, kept[0].filename))

    def _make_uploaded_fields(
        self, call: OperationCall, workspace: Workspace, filename: str
    ) -> dict[str, Any]:
        path = build_upload_path(workspace, filename)
        return {"path": path, "filename": filename, **self._insert(call.id, path)}


async def send_opened(
    call: OperationCall,
    opened: OpenFile | OpenFolder,
    *,
    save: bool,
    still: Callable[[], bool] = lambda: True,
) -> None:
    """Send an open file or folder as the response, and close it.

    @param save: true if the client must save the file instead of displaying it.
    @param still: returns true while the caller may receive the file; see L{StreamedResponse}.
    """
    answer = StreamedResponse(call.request, still)
    try:
        if isinstance(opened, OpenFolder):
            await _send_folder(answer, opened)
        else:
            await _send_file(call, answer, opened, save)
    finally:
        answer.close()
        await opened.close()


async def _send_file(
    call: OperationCall, answer: StreamedResponse, file: OpenFile, save: bool
) -> None:
    about = file.about
    headers = {
        **_make_file_headers(about.name, save),
        "ETag": about.tag,
        **_build_last_modified(about.modified),
        "Accept-Ranges": "bytes",
    }
    if matches_any_tag(call.get_header("if-none-match"), about.tag):
        answer.write_head(304, headers)
        return
    wanted = (
        call.get_header("range") if may_be_partial(call.get_header("if-range"), about.tag) else None
    )
    try:
        part = parse_range(wanted, about.size)
    except UnsatisfiableRange:
        answer.write_head(416, {**headers, "Content-Range": f"bytes */{about.size}",
                           "Content-Length": "0"})  # fmt: skip
        return
    headers["Content-Type"] = about.media_type
    at, left = (0, about.size) if part is None else (part.start, part.length)
    headers["Content-Length"] = str(left)
    if part is not None:
        headers["Content-Range"] = part.content_range(about.size)
    first = b"" if answer.head_only else await file.read_chunk(at, left)
    answer.write_head(200 if part is None else 206, headers)
    if not answer.head_only:
        await _send_bytes(answer, file, at, left, first)


async def _send_bytes(
    answer: StreamedResponse, file: OpenFile, at: int, left: int, piece: bytes
) -> None:
    while left:
        if not piece:
            # It became shorter than announced, and the reader must notice that.
            raise make_failure_error("path: the file became shorter during the transfer")
        await answer.write(piece)
        at, left = at + len(piece), left - len(piece)
        if left:
            piece = await file.read_chunk(at, left)


async def _send_folder(answer: StreamedResponse, folder: OpenFolder) -> None:
    piece = await folder.read_chunk()
    headers = _make_file_headers(f"{folder.name}.tar.gz", save=True)
    answer.write_head(200, {**headers, "Content-Type": "application/gzip"})
    while piece and not answer.head_only:
        await answer.write(piece)
        piece = await folder.read_chunk()


def _build_last_modified(modified: float) -> Mapping[str, str]:
    """Return the C{Last-Modified} header, or nothing if the file's time is not a valid date.

    The owner of a file can set any time.
    """
    try:
        return {"Last-Modified": formatdate(modified, usegmt=True)}
    except (ValueError, OverflowError, OSError):
        return {}


def _make_file_headers(name: str, save: bool) -> Mapping[str, str]:
    disposition = "attachment" if save else "inline"
    plain = "".join(sign if " " <= sign <= "~" and sign not in '"\\%' else "_" for sign in name)
    return {
        "Content-Security-Policy": CONTENT_SECURITY_POLICY,
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "private, no-cache",
        "Content-Disposition": f'{disposition}; filename="{plain}"; '
        f"filename*=UTF-8''{quote(name, safe='')}",
    }


_EVENTS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
}


def _encode_event(message: Mapping[str, Any]) -> bytes:
    return b":\n\n" if message is HEARTBEAT else b"data: %s\n\n" % dump_json(message)
