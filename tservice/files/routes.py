"""JSON routes for workspace files: list a tree, read and save text (protocol-files)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal
from urllib.parse import quote

from pydantic import Field, StringConstraints

from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.kernel.scopes import READS_FILES
from tservice.core.values.payload import omit_if_false, omit_if_none
from tservice.files import writing
from tservice.files.file_links import SECONDS, FileLink, FileLinks
from tservice.files.model import EDIT_BYTES, Workspace, is_secret_file
from tservice.files.reading import file_tree, text_content
from tservice.files.reading.tree_response import FileTreeAnswer
from tservice.files.service import FilesService
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, AuditMode, OperationCall, Scope
from tservice.http.validation.body_limits import LEAST_BODY_LIMIT
from tservice.http.validation.models import (
    QueryBool,
    QueryInt,
    QueryParameters,
    RequestBody,
    ResponseModel,
)

WorkspaceOf = Callable[[str], Workspace]
"""Function that returns the workspace of a session id, or fails with 404 for an unknown session."""

PATH = Annotated[str, Field(description="Relative to the workspace, or an absolute path inside it")]

_ESCAPED = 6
"""Number of bytes that JSON needs for an escaped control character."""

BODY_LIMIT = _ESCAPED * EDIT_BYTES + 4 * LEAST_BODY_LIMIT


class TreeQuery(QueryParameters):
    """Query for a tree; C{depth} is clamped to 1 to 10."""

    path: PATH = "."
    depth: QueryInt = 3
    show_hidden: QueryBool = False


class ContentQuery(QueryParameters):
    """Query for lines of a file; C{from} and C{lines} are clamped."""

    path: PATH
    start: QueryInt = Field(default=1, alias="from")
    lines: QueryInt = 500
    reveal: QueryBool = Field(
        default=False, description="Show an environment file (.env*); the audit log records it"
    )


class ContentBody(RequestBody):
    """Content to save. The length of C{content} is checked separately: it gives a 413."""

    path: Annotated[str, StringConstraints(min_length=1, max_length=4096)]
    content: str
    base_hash: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")] | None = Field(
        description="The hash of the edited text; null: the file must not exist"
    )
    force: bool = Field(default=False, description="Save it even if the file has changed")


class LinkBody(RequestBody):
    """File to open."""

    path: Annotated[str, StringConstraints(min_length=1, max_length=4096)]
    download: bool = Field(
        default=False, description="Save it instead of showing it; also for folders"
    )


class FileTextAnswer(ResponseModel):
    """Lines of a text file."""

    path: str
    content: str
    size: int
    mtime_ms: int
    hash: str
    total_lines: int
    start: int = Field(alias="from")
    truncated: bool
    eol: Literal["lf", "crlf", "mixed"]
    editable: bool
    reason: str | None = omit_if_none(description="The reason why it cannot be edited")


class FileMediaAnswer(ResponseModel):
    """File that is not text; C{url} has its bytes."""

    path: str
    type: Literal["image", "pdf", "audio", "video", "binary"]
    mime: str
    size: int
    mtime_ms: int
    url: str
    too_large: bool = omit_if_false()
    reason: str | None = omit_if_none(
        description="The reason why it is shown as bytes, if it is binary"
    )


class SavedFileAnswer(ResponseModel):
    """Saved file."""

    path: str
    size: int
    mtime_ms: int
    hash: str


class FileLinkAnswer(ResponseModel):
    """Address that needs no sign-in, until C{expiresAt} or ten minutes after its last use."""

    url: str
    expires_at: int


_FILES = OperationFields(
    tag="Files",
    access=AccessRule.OWNER,
    scope=Scope.SESSIONS_INPUT,
    scope_reason=READS_FILES,
    errors=(
        ErrorCode.INVALID_INPUT,
        ErrorCode.FORBIDDEN,
        ErrorCode.OPERATION_FAILED,
        ErrorCode.RATE_LIMITED,
    ),
)


class FilesRoutes:
    """Operations on workspace files. The rules are in L{FilesService}.

    @param revealed: called when a response shows the contents of an environment file.
    @param runs: returns true if a file at this absolute path could make git or an agent run a
        command.
    """

    def __init__(
        self,
        files: FilesService,
        workspace_of: WorkspaceOf,
        links: FileLinks,
        clock: Any,
        on_reveal: Callable[[OperationCall, str], None],
        runs: Callable[[str], bool],
    ) -> None:
        self._files, self._workspace_of, self._links = files, workspace_of, links
        self._clock, self._revealed, self._runs = clock, on_reveal, runs

    @operation("GET", "/api/sessions/{id}/files", _FILES)
    async def get_tree(self, call: OperationCall, query: TreeQuery) -> FileTreeAnswer:
        """Get the file tree of a workspace."""
        wanted = file_tree.TreeRequest(
            path=query.path, depth=query.depth, show_hidden=query.show_hidden
        )
        return await self._files.get_tree(self._workspace_of(call.id), wanted)

    @operation("GET", "/api/sessions/{id}/file-content", _FILES)
    async def get_content(
        self, call: OperationCall, query: ContentQuery
    ) -> FileTextAnswer | FileMediaAnswer:
        """Read lines of a text file, or get the type of another file."""
        wanted = text_content.TextRequest(
            path=query.path, start=query.start, lines=query.lines, reveal=query.reveal
        )
        found = await self._files.get_content(self._workspace_of(call.id), wanted)
        if any(is_secret_file(path) for path in (query.path, found["path"])):
            self._revealed(call, found["path"])
        if "type" in found:
            return FileMediaAnswer(**found, url=build_raw_url(call.id, found["path"]))
        return FileTextAnswer.model_validate(found)

    @operation(
        "PUT",
        "/api/sessions/{id}/file-content",
        _FILES,
        scope_reason=(
            "The written file can be a program that a user runs, or that runs automatically."
        ),
        body_limit=BODY_LIMIT,
        errors=(ErrorCode.CONFLICT,),
    )
    async def save_content(self, call: OperationCall, body: ContentBody) -> SavedFileAnswer:
        """Save a text file."""
        content = body.content.encode()
        if len(content) > EDIT_BYTES:
            text = f"content: must be at most {EDIT_BYTES} bytes"
            raise ServiceError(ErrorCode.PAYLOAD_TOO_LARGE, text)
        edit = writing.FileEdit(
            path=body.path,
            content=content,
            base_hash=body.base_hash,
            force=body.force,
            runs=None if call.caller.can_bypass_permissions else self._runs,
        )
        return SavedFileAnswer.model_validate(
            await self._files.save_content(self._workspace_of(call.id), edit, call.caller)
        )

    @operation(
        "POST",
        "/api/sessions/{id}/file-link",
        _FILES,
        scope=None,
        scope_reason=(
            "The address opens a file for anyone who has it. A program uses its token instead."
        ),
        audit=AuditMode.NONE,
    )
    async def create_link(self, call: OperationCall, body: LinkBody) -> FileLinkAnswer:
        """Create an address of a file for a browser."""
        opened = await self._files.open_entry(
            self._workspace_of(call.id), body.path, folders=body.download
        )
        await opened.close()
        link = FileLink(session_id=call.id, path=body.path, download=body.download)
        word = self._links.create_token(link, call.caller)
        return FileLinkAnswer(
            url=f"/api/file-link/{word}", expires_at=get_unix_ms(self._clock) + int(SECONDS * 1000)
        )


def build_raw_url(session_id: str, path: str) -> str:
    """Return the URL of a file's bytes, for signed-in users."""
    return f"/api/sessions/{session_id}/file-raw?path={quote(path, safe='')}"
