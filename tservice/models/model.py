"""Records of model endpoints, and the rules for their fields (protocol-models)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from attrs import evolve, field, frozen
from pydantic import SecretStr

from tservice.core.kernel.errors import ErrorCode, ServiceError, make_field_error
from tservice.core.net.egress import EgressRefused, parse_target

SETTING = "customModelEndpointsEnabled"
ENDPOINT_LIMIT = 50
"""Maximum number of stored endpoints."""
MODEL_LIMIT = 1000
"""Maximum number of stored models of one endpoint."""
LABEL_LENGTH = 60
KEY_LENGTH = 4096
MIN_SAFE_CONTEXT = 40_000
"""Minimum context length in tokens. In a smaller context an agent's own instructions leave too
little room (protocol-models).
"""

_MODEL_ID = re.compile(r"[A-Za-z0-9_.@~][A-Za-z0-9_.@~:/+=,%#()\[\]-]{0,199}")
_KEY = re.compile(r"[\x21-\x7e]*")


class AuthStyle(StrEnum):
    """Header that carries the key: C{Authorization: Bearer}, or C{x-api-key}."""

    BEARER = "bearer"
    API_KEY = "api-key"


@frozen(kw_only=True)
class OfferedModel:
    """Model that an endpoint offers.

    @ivar context_length: context length in tokens; C{None} if the endpoint does not report it.
    """

    id: str
    context_length: int | None = None


@frozen(kw_only=True)
class ModelEndpoint:
    """HTTP server that offers models.

    @ivar base_url: URL as entered by the user. Paths are appended to L{root}.
    @ivar api_key: key of the endpoint; C{None} if no key is sent.
    @ivar last_discovered_at: time of the last discovery in Unix milliseconds; C{None} if there was
        none.
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
        """Base URL without C{/v1} and without a slash at the end."""
        return self.base_url.rstrip("/").removesuffix("/v1").rstrip("/")

    @property
    def key(self) -> str:
        """Key in plain text, or an empty string if there is none."""
        return "" if self.api_key is None else self.api_key.get_secret_value()

    def find_context_length(self, model_id: str) -> int | None:
        """Return the context length of a model in tokens, or C{None} if the endpoint did not report
        it.
        """
        found = (model.context_length for model in self.models if model.id == model_id)
        return next(found, None)


def apply_patch(
    endpoint: ModelEndpoint, patch: Mapping[str, Any], *, by_token: bool = False
) -> ModelEndpoint:
    """Return C{endpoint} with the fields in C{patch} changed and validated.

    @param by_token: true if the caller uses a token. A token must not redirect the key to another
        server.
    @raise ServiceError: 400 naming the field; 403 if a token would redirect the key.
    """
    changed: ModelEndpoint = evolve(endpoint, **patch)
    if by_token and endpoint.key and "api_key" not in patch and changed.root != endpoint.root:
        raise ServiceError(
            ErrorCode.FORBIDDEN,
            "A token cannot move the key to another baseUrl: give apiKey as well",
        )
    if not changed.label.strip() or not changed.label.isprintable():
        raise make_field_error("label", "must be one line of text")
    try:
        parse_target(changed.base_url)
    except EgressRefused as error:
        raise make_field_error("baseUrl", str(error)) from None
    if "?" in changed.base_url or "#" in changed.base_url:
        raise make_field_error("baseUrl", "must have neither a query nor a fragment")
    if not _KEY.fullmatch(changed.key):
        raise make_field_error("apiKey", "must be printable ASCII without blanks")
    if changed.default_model_id is not None:
        check_model_id("defaultModelId", changed.default_model_id)
    return changed


def replace_models(
    endpoint: ModelEndpoint, models: Iterable[OfferedModel], at: int
) -> ModelEndpoint:
    """Return C{endpoint} with the models it offers now. A default model that no longer exists is
    cleared.

    @param at: time of the discovery in Unix milliseconds.
    """
    kept = tuple(models)
    ids = {model.id for model in kept}
    default = endpoint.default_model_id if endpoint.default_model_id in ids else None
    return evolve(endpoint, models=kept, last_discovered_at=at, default_model_id=default)


def check_model_id(name: str, model_id: str) -> None:
    """Refuse a model id that a program could parse as an option or as several arguments.

    @raise ServiceError: 400 naming the field C{name}.
    """
    if not _MODEL_ID.fullmatch(model_id):
        raise make_field_error(
            name, "must be usable as an argument: no blanks, quotes or leading dash"
        )


def is_context_small(context_length: int | None) -> bool:
    """Return true if a context of this many tokens is too small; false if the length is unknown."""
    return context_length is not None and context_length < MIN_SAFE_CONTEXT


def find_displaced_model(running: Sequence[str], wanted: str) -> str | None:
    """Return the loaded model that loading C{wanted} would displace.

    @return: C{None} if no model is loaded, or C{wanted} is loaded already.
    """
    return None if wanted in running else next(iter(running), None)


def find_swapped_models(before: frozenset[str], now: frozenset[str]) -> frozenset[str]:
    """Return the models that were displaced by another model between two queries.

    Models that were merely unloaded are not included.
    """
    return before - now if now - before else frozenset()
