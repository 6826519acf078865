"""Records of model endpoints and their rules (protocol-models).  Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from attrs import evolve, field, frozen
from pydantic import SecretStr

from tservice.core.errors import ErrorCode, ServiceError, invalid_field
from tservice.core.net.egress import EgressRefused, parse_target

SETTING = "customModelEndpointsEnabled"
ENDPOINT_LIMIT = 50
"""Limit of stored endpoints."""
MODEL_LIMIT = 1000
"""Limit of stored models of one endpoint."""
LABEL_LENGTH = 60
KEY_LENGTH = 4096
MIN_SAFE_CONTEXT = 40_000
"""Tokens below which an agent's own instructions leave too little context (protocol-models)."""

_MODEL_ID = re.compile(r"[A-Za-z0-9_.@~][A-Za-z0-9_.@~:/+=,%#()\[\]-]{0,199}")
_KEY = re.compile(r"[\x21-\x7e]*")


class AuthStyle(StrEnum):
    """Header that carries the key: C{Authorization: Bearer}, or C{x-api-key}."""

    BEARER = "bearer"
    API_KEY = "api-key"


@frozen(kw_only=True)
class OfferedModel:
    """Model that an endpoint offers.

    @ivar context_length: tokens; C{None}: not reported.
    """

    id: str
    context_length: int | None = None


@frozen(kw_only=True)
class ModelEndpoint:
    """Server of models.

    @ivar base_url: as given; paths are appended to L{root}.
    @ivar api_key: C{None}: no key is sent.
    @ivar last_discovered_at: Unix milliseconds; C{None}: never.
    """

    id: str
    label: str
    base_url: str
    api_key: SecretStr | None = field(default=None, repr=False)
    auth_style: AuthStyle = AuthStyle.BEARER
    models: tuple[OfferedModel, ...] = ()
    last_discovered_at: int | None = None
    default_model_id: str | None = None

    @property
    def root(self) -> str:
        """Address without C{/v1} and without a final slash."""
        return self.base_url.rstrip("/").removesuffix("/v1").rstrip("/")

    @property
    def key(self) -> str:
        """Plain text of the key; C{""} without one."""
        return "" if self.api_key is None else self.api_key.get_secret_value()

    def find_context_length(self, model_id: str) -> int | None:
        """Return the tokens of a model's context, if the endpoint reported them."""
        found = (model.context_length for model in self.models if model.id == model_id)
        return next(found, None)


def apply_patch(
    endpoint: ModelEndpoint, patch: Mapping[str, Any], *, by_token: bool = False
) -> ModelEndpoint:
    """Return C{endpoint} with the fields in C{patch}, validated.

    @param by_token: the change is made with a token, which must not redirect a key to another
        server.
    @raise ServiceError: 400 naming the field; 403 for such a token.
    """
    changed: ModelEndpoint = evolve(endpoint, **patch)
    if by_token and endpoint.key and "api_key" not in patch and changed.root != endpoint.root:
        raise ServiceError(
            ErrorCode.FORBIDDEN,
            "A token cannot move the key to another baseUrl: give apiKey as well",
        )
    if not changed.label.strip() or not changed.label.isprintable():
        raise invalid_field("label", "must be one line of text")
    try:
        parse_target(changed.base_url)
    except EgressRefused as error:
        raise invalid_field("baseUrl", str(error)) from None
    if "?" in changed.base_url or "#" in changed.base_url:
        raise invalid_field("baseUrl", "must have neither a query nor a fragment")
    if not _KEY.fullmatch(changed.key):
        raise invalid_field("apiKey", "must be printable ASCII without blanks")
    if changed.default_model_id is not None:
        check_model_id("defaultModelId", changed.default_model_id)
    return changed


def with_models(endpoint: ModelEndpoint, models: Iterable[OfferedModel], at: int) -> ModelEndpoint:
    """Return C{endpoint} with its current models; a default model that is gone is cleared."""
    kept = tuple(models)
    ids = {model.id for model in kept}
    default = endpoint.default_model_id if endpoint.default_model_id in ids else None
    return evolve(endpoint, models=kept, last_discovered_at=at, default_model_id=default)


def check_model_id(name: str, model_id: str) -> None:
    """Refuse a model id that could be read as an option or more than one argument.

    @raise ServiceError: 400 naming the field C{name}.
    """
    if not _MODEL_ID.fullmatch(model_id):
        raise invalid_field(
            name, "must be usable as an argument: no blanks, quotes or leading dash"
        )


def is_context_small(context_length: int | None) -> bool:
    """Return true if a context of that many tokens is too small; an unknown one is not."""
    return context_length is not None and context_length < MIN_SAFE_CONTEXT


def find_displaced(running: Sequence[str], wanted: str) -> str | None:
    """Return the loaded model that C{wanted} would displace; C{None}: none, or it is
    loaded itself.
    """
    return None if wanted in running else next(iter(running), None)


def find_swapped_out(before: frozenset[str], now: frozenset[str]) -> frozenset[str]:
    """Return the models that were displaced by another one; models that were only unloaded do not
    count.
    """
    return before - now if now - before else frozenset()
