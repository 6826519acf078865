"""Files: what a program may ask, send and get.  Written by C{make docs}."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from tservice.client.calling import Calling, quoted


class ContentBody(TypedDict):
    """What to save; the length of C{content} is checked apart: it is a 413."""

    path: str
    content: str
    baseHash: str | None
    force: NotRequired[bool]


class FileEntryAnswer(TypedDict):
    """One entry of a tree; C{children} is absent where it was not entered."""

    name: str
    path: str
    type: Literal["file", "dir", "link", "other"]
    size: NotRequired[int]
    mtimeMs: int
    children: NotRequired[list[FileEntryAnswer]]
    truncated: NotRequired[bool]


class FileMediaAnswer(TypedDict):
    """What is no text; C{url} has its bytes."""

    path: str
    type: Literal["image", "pdf", "audio", "video", "binary"]
    mime: str
    size: int
    mtimeMs: int
    url: str
    tooLarge: NotRequired[bool]
    reason: NotRequired[str]


FileTextAnswer = TypedDict(
    "FileTextAnswer",
    {
        "path": "str",
        "content": "str",
        "size": "int",
        "mtimeMs": "int",
        "hash": "str",
        "totalLines": "int",
        "from": "int",
        "truncated": "bool",
        "eol": "Literal['lf', 'crlf', 'mixed']",
        "editable": "bool",
        "reason": "NotRequired[str]",
    },
)
"""Some lines of a text."""


class FileTreeAnswer(TypedDict):
    """A tree; the totals count the entries in it."""

    root: str
    path: str
    tree: list[FileEntryAnswer]
    totalFiles: int
    totalDirectories: int
    truncated: bool


class KeptImageAnswer(TypedDict):
    """A kept image; C{insert} is what the session's agent takes for it in a prompt."""

    path: str
    filename: str
    insert: str
    attachment: Literal["path", "at", "paste"]


class KeptScreenshotAnswer(TypedDict):
    """A kept screenshot."""

    path: str
    filename: str


class SavedFileAnswer(TypedDict):
    """A file as it was saved."""

    path: str
    size: int
    mtimeMs: int
    hash: str


class ScreenshotAnswer(TypedDict):
    """One of a list."""

    path: str
    filename: str
    size: int
    mtimeMs: int


class ScreenshotsAnswer(TypedDict):
    """The newest 50."""

    screenshots: list[ScreenshotAnswer]


class UploadedFileAnswer(TypedDict):
    """One kept file."""

    path: str
    filename: str
    insert: str
    attachment: Literal["path", "at", "paste"]
    size: int


class UploadsAnswer(TypedDict):
    """All of a form."""

    files: list[UploadedFileAnswer]


class Files(Calling):
    """Files."""

    async def get_sessions_id_files(
        self,
        id: str,
        *,
        path: str | None = None,
        depth: int | None = None,
        showHidden: bool | None = None,
    ) -> FileTreeAnswer:
        """The tree of a workspace."""
        found: FileTreeAnswer = await self.call(
            "GET",
            f"/sessions/{quoted(id)}/files",
            query={"path": path, "depth": depth, "showHidden": showHidden},
        )
        return found

    async def get_sessions_id_file_content(
        self,
        id: str,
        *,
        path: str,
        from_: int | None = None,
        lines: int | None = None,
        reveal: bool | None = None,
    ) -> FileTextAnswer | FileMediaAnswer:
        """Lines of a file, or what it is."""
        found: FileTextAnswer | FileMediaAnswer = await self.call(
            "GET",
            f"/sessions/{quoted(id)}/file-content",
            query={"path": path, "from": from_, "lines": lines, "reveal": reveal},
        )
        return found

    async def put_sessions_id_file_content(self, id: str, body: ContentBody) -> SavedFileAnswer:
        """Save a text."""
        found: SavedFileAnswer = await self.call(
            "PUT", f"/sessions/{quoted(id)}/file-content", body=body
        )
        return found

    async def post_sessions_id_uploads(self, id: str, body: Any) -> UploadsAnswer:
        """Keep files in the workspace."""
        found: UploadsAnswer = await self.call("POST", f"/sessions/{quoted(id)}/uploads", body=body)
        return found

    async def post_sessions_id_paste_image(self, id: str, body: Any) -> KeptImageAnswer:
        """Keep an image in the workspace."""
        found: KeptImageAnswer = await self.call(
            "POST", f"/sessions/{quoted(id)}/paste-image", body=body
        )
        return found

    async def post_screenshots(self, body: Any) -> KeptScreenshotAnswer:
        """Keep a screenshot."""
        found: KeptScreenshotAnswer = await self.call("POST", "/screenshots", body=body)
        return found

    async def get_screenshots(self) -> ScreenshotsAnswer:
        """The newest screenshots."""
        found: ScreenshotsAnswer = await self.call("GET", "/screenshots")
        return found
