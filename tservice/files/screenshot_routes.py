"""Routes of C{/api/screenshots}, which are deprecated (protocol-uploads)."""

from __future__ import annotations

from typing import Any

from tservice.core.errors import ErrorCode
from tservice.files.model import FORM_SPARE, SCREENSHOT_BYTES
from tservice.files.screenshots import ScreenshotStore
from tservice.files.transfer_routes import send_opened
from tservice.http.models import ResponseModel
from tservice.http.operations import AccessRule, Operation, OperationCall, ResponseStyle, Scope

FAMILY = "screenshots"


class KeptScreenshotAnswer(ResponseModel):
    """Saved screenshot."""

    path: str
    filename: str


class ScreenshotAnswer(KeptScreenshotAnswer):
    """Screenshot in the list."""

    size: int
    mtime_ms: int


class ScreenshotsAnswer(ResponseModel):
    """The newest 50 screenshots."""

    screenshots: list[ScreenshotAnswer]


class ScreenshotRoutes:
    """Operations on screenshots. A user sees only screenshots that the same user stored."""

    def __init__(self, screenshots: ScreenshotStore) -> None:
        self._screenshots = screenshots

    def operations(self) -> list[Operation]:
        """Return the operations of these routes."""
        return [
            _screenshot_operation("POST", "", self.store_screenshot, "Upload a screenshot",
                                  response_model=KeptScreenshotAnswer,
                       streams=True, body_limit=SCREENSHOT_BYTES + FORM_SPARE,
                       errors=(ErrorCode.INVALID_INPUT, ErrorCode.RATE_LIMITED,
                               ErrorCode.OPERATION_FAILED)),
            _screenshot_operation("GET", "", self.list_screenshots,
                "List the newest screenshots", response_model=ScreenshotsAnswer),
            _screenshot_operation("GET", "/{name}", self.send_screenshot, "Get a screenshot",
                                  style=ResponseStyle.STREAM,
                       media_type="application/octet-stream"),
        ]  # fmt: skip

    async def store_screenshot(self, call: OperationCall) -> KeptScreenshotAnswer:
        """Store a screenshot."""
        path, kept = await self._screenshots.store(
            call.identity.username, call.get_header("content-type"), call.incoming.read_data
        )
        return KeptScreenshotAnswer(path=str(path), filename=kept.filename)

    async def list_screenshots(self, call: OperationCall) -> ScreenshotsAnswer:
        """List the newest screenshots."""
        found = await self._screenshots.list_newest(call.identity.username)
        return ScreenshotsAnswer.model_validate({"screenshots": found})

    async def send_screenshot(self, call: OperationCall) -> None:
        """Send the image data of a screenshot."""
        name = call.path["name"]
        await send_opened(
            call, await self._screenshots.open_screenshot(call.identity.username, name), save=False
        )


def _screenshot_operation(
    method: str, rest: str, handler: Any, summary: str, **fields: Any
) -> Operation:
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
