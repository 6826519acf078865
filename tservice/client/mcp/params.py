"""Models of the parameters of each MCP method (protocol-mcp-tools).

Unknown names are ignored, as the protocol may be extended.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic.alias_generators import to_camel


class _ParamsBase(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="ignore",
        frozen=True,
        strict=True,
        validate_by_name=False,
        defer_build=True,
    )


class RequestMeta(_ParamsBase):
    """Metadata of a request."""

    progress_token: str | float = ""


class MethodParams(_ParamsBase):
    """Parameters of a method without specific ones."""

    meta: RequestMeta = Field(default=RequestMeta(), alias="_meta")


class InitializeParams(MethodParams):
    """Parameters of C{initialize}.  All are optional, as some clients leave them out."""

    protocol_version: str = ""
    capabilities: dict[str, Any] = {}
    client_info: dict[str, Any] = {}


class ListParams(MethodParams):
    """Parameters of a list.  Each list is one page, so that no cursor is ever issued."""

    cursor: str = ""

    @field_validator("cursor")
    @classmethod
    def _require_no_cursor(cls, cursor: str) -> str:
        if cursor:
            raise ValueError("the list is one page; leave cursor out")
        return cursor


class CallParams(MethodParams):
    """Parameters of a tool call."""

    name: str
    arguments: dict[str, Any] = {}


class ReadParams(MethodParams):
    """Parameters with the resource to read."""

    uri: str


class LevelParams(MethodParams):
    """Parameters with the least level of log messages for a client."""

    level: Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
