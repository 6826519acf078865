"""Routes C{/api/tokens}."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from tservice.core.kernel.clock import LATEST_MS
from tservice.core.kernel.errors import ErrorCode
from tservice.core.kernel.event_payloads import EmptyPayload
from tservice.core.kernel.scopes import Scope
from tservice.core.values.failfast import FAIL_FAST
from tservice.core.values.text import LINE
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, OperationCall
from tservice.http.validation.models import RequestBody, ResponseModel
from tservice.tokens.model import MAX_SESSIONS, ApiToken
from tservice.tokens.service import TokenService

_SessionId = Annotated[str, StringConstraints(min_length=1, max_length=100)]


class TokenBody(RequestBody):
    """New token. Without C{sessions} it can access all sessions of its owner."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=f"^{LINE}$")]
    scopes: list[Annotated[Scope, Field(strict=False)]] = Field(min_length=1, max_length=len(Scope))
    sessions: (
        Annotated[list[_SessionId], Field(min_length=1, max_length=MAX_SESSIONS), FAIL_FAST] | None
    ) = None
    expires_at: Annotated[int, Field(ge=0, le=LATEST_MS)] | None = None


class TokenResponse(ResponseModel):
    """Record of a token; times in Unix milliseconds."""

    id: str
    name: str
    scopes: list[Scope]
    sessions: list[str] | None
    created_at: int
    expires_at: int | None
    last_used_at: int | None


class NewTokenResponse(ResponseModel):
    """New token. It is shown only in this response."""

    token: str
    record: TokenResponse


class TokenListResponse(ResponseModel):
    """Tokens of the caller, oldest first."""

    tokens: list[TokenResponse]


_TOKENS = OperationFields(
    tag="Access",
    access=AccessRule.USER,
    scope_reason=(
        "A token that creates, lists or revokes tokens would have no limit in scope or time."
    ),
    errors=(ErrorCode.FORBIDDEN,),
)


class TokenRoutes:
    """Routes to manage the caller's tokens.  They cannot be called with a token."""

    def __init__(self, tokens: TokenService) -> None:
        self._tokens = tokens

    @operation("POST", "/api/tokens", _TOKENS, errors=(ErrorCode.OPERATION_FAILED,))
    async def create_token(self, call: OperationCall, body: TokenBody) -> NewTokenResponse:
        """Create a token with a part of your rights; it is shown once."""
        word, token = self._tokens.create_token(
            call.caller.username, body.name, body.scopes, body.sessions, body.expires_at
        )
        return NewTokenResponse(token=word, record=make_token_response(token))

    @operation("GET", "/api/tokens", _TOKENS)
    async def list_tokens(self, call: OperationCall) -> TokenListResponse:
        """List your tokens."""
        found = self._tokens.list_tokens(call.caller.username)
        return TokenListResponse(tokens=[make_token_response(token) for token in found])

    @operation("DELETE", "/api/tokens/{id}", _TOKENS)
    async def delete_token(self, call: OperationCall) -> EmptyPayload:
        """Revoke one of your tokens, and end its open connections."""
        self._tokens.delete_token(call.id, call.caller.username)
        return EmptyPayload()


def make_token_response(token: ApiToken) -> TokenResponse:
    """Return a token's record as its owner sees it."""
    return TokenResponse(
        id=token.id,
        name=token.name,
        scopes=list(token.scopes),
        sessions=None if token.sessions is None else list(token.sessions),
        created_at=token.created_at,
        expires_at=token.expires_at,
        last_used_at=token.last_used_at,
    )
