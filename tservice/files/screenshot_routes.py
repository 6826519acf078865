"""Routes of C{/api/screenshots}, which are deprecated (protocol-uploads)."""

from __future__ import annotations

from tservice.core.kernel.errors import ErrorCode
from tservice.core.kernel.scopes import READS_FILES, SAVES_UPLOADS
from tservice.files.model import FORM_SPARE, SCREENSHOT_BYTES
from tservice.files.screenshots import ScreenshotStore
from tservice.files.transfer_routes import send_opened
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, OperationCall, ResponseStyle, Scope
from tservice.http.validation.models import ResponseModel

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


_SCREENSHOTS = OperationFields(
    tag="Files",
    access=AccessRule.USER,
    scope=Scope.SESSIONS_INPUT,
    scope_reason=READS_FILES,
    deprecated=FAMILY,
)


class ScreenshotRoutes:
    """Operations on screenshots. A user sees only screenshots that the same user stored."""

    def __init__(self, screenshots: ScreenshotStore) -> None:
        self._screenshots = screenshots

    @operation(
        "POST",
        "/api/screenshots",
        _SCREENSHOTS,
        scope_reason=SAVES_UPLOADS,
        body_limit=SCREENSHOT_BYTES + FORM_SPARE,
        streams=True,
        errors=(ErrorCode.INVALID_INPUT, ErrorCode.RATE_LIMITED, ErrorCode.OPERATION_FAILED),
    )
    async def store_screenshot(self, call: OperationCall) -> KeptScreenshotAnswer:
        """Upload a screenshot."""
        path, kept = await self._screenshots.store(
            call.caller.username, call.get_header("content-type"), call.incoming.read_data
        )
        return KeptScreenshotAnswer(path=str(path), filename=kept.filename)

    @operation("GET", "/api/screenshots", _SCREENSHOTS)
    async def list_screenshots(self, call: OperationCall) -> ScreenshotsAnswer:
        """List the newest screenshots."""
        found = await self._screenshots.list_newest(call.caller.username)
        return ScreenshotsAnswer.model_validate({"screenshots": found})

    @operation(
        "GET",
        "/api/screenshots/{name}",
        _SCREENSHOTS,
        style=ResponseStyle.STREAM,
        media_type="application/octet-stream",
    )
    async def send_screenshot(self, call: OperationCall) -> None:
        """Get a screenshot."""
        name = call.path["name"]
        await send_opened(
            call, await self._screenshots.open_screenshot(call.caller.username, name), save=False
        )
