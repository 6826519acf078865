"""Routes of C{/api/screenshots}, which are deprecated (protocol-uploads)."""

from __future__ import annotations

from typing import Any

from tservice.core.errors import ErrorCode
from tservice.files.carrying_routes import send
from tservice.files.model import FORM_SPARE, SCREENSHOT_BYTES
from tservice.files.screenshots import Screenshots
from tservice.http.models import ResponseModel
from tservice.http.operations import AccessRule, Operation, OperationCall, ResponseStyle, Scope

FAMILY = "screenshots"


class KeptScreenshotAnswer(ResponseModel):
    """A kept screenshot."""

    path: str
    filename: str


class ScreenshotAnswer(KeptScreenshotAnswer):
    """One of a list."""

    size: int
    mtime_ms: int


class ScreenshotsAnswer(ResponseModel):
    """The newest 50."""

    screenshots: list[ScreenshotAnswer]


class ScreenshotRoutes:
    """Operations on screenshots; each user sees only their own."""

    def __init__(self, screenshots: Screenshots) -> None:
        self._screenshots = screenshots

    def operations(self) -> list[Operation]:
        """Return the operations of the routes."""
        return [
            _operation("POST", "", self.keep, "Keep a screenshot", answer=KeptScreenshotAnswer,
                       streams=True, body_limit=SCREENSHOT_BYTES + FORM_SPARE,
                       errors=(ErrorCode.INVALID_INPUT, ErrorCode.RATE_LIMITED,
                               ErrorCode.OPERATION_FAILED)),
            _operation("GET", "", self.list, "The newest screenshots", answer=ScreenshotsAnswer),
            _operation("GET", "/{name}", self.show, "A screenshot", style=ResponseStyle.STREAM,
                       media_type="application/octet-stream"),
        ]  # fmt: skip

    async def keep(self, call: OperationCall) -> KeptScreenshotAnswer:
        """Store a screenshot."""
        path, kept = await self._screenshots.keep(
            call.identity.username, call.get_header("content-type"), call.incoming.read_data
        )
        return KeptScreenshotAnswer(path=str(path), filename=kept.filename)

    async def list(self, call: OperationCall) -> ScreenshotsAnswer:
        """List the newest screenshots."""
        found = await self._screenshots.list(call.identity.username)
        return ScreenshotsAnswer.model_validate({"screenshots": found})

    async def show(self, call: OperationCall) -> None:
        """Send a screenshot."""
        name = call.path["name"]
        await send(call, await self._screenshots.open(call.identity.username, name), save=False)


def _operation(method: str, rest: str, handler: Any, summary: str, **fields: Any) -> Operation:
    return Operation(
        method=method,
        path=f"/api/screenshots{rest}",
        access=AccessRule.USER,
        scope=Scope.SESSIONS_INPUT,
        handler=handler,
        summary=summary,
        tag="Files",
        deprecated=FAMILY,
        **fields,
    )
