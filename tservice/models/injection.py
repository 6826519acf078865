"""Use of a model endpoint by an agent, in the way that its adapter knows (protocol-models)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tservice.clis.interfaces import (
    MODEL_INJECTIONS,
    CustomModelStyle,
    Injection,
    InjectionTarget,
)
from tservice.models.model import AuthStyle, ModelEndpoint

NO_KEY = "no-key"
"""Placeholder for endpoints without a key, because agents do not start without one."""


def make_target(
    endpoint: ModelEndpoint, model_id: str, *, folder: Path, env: Mapping[str, str]
) -> InjectionTarget:
    """Return the target for a model of an endpoint; see L{InjectionTarget} for the arguments."""
    return InjectionTarget(
        root=endpoint.root,
        key=endpoint.key or NO_KEY,
        label=endpoint.label,
        sends_api_key=endpoint.auth_style is AuthStyle.API_KEY,
        model_id=model_id,
        context_length=endpoint.find_context_length(model_id),
        folder=folder,
        env=env,
    )


def build_injection(style: CustomModelStyle, target: InjectionTarget) -> Injection | None:
    """Return the changes that make an agent of C{style} use C{target}; C{None} if that is not
    supported.
    """
    build = MODEL_INJECTIONS.get(style)
    return None if build is None else build(target)


def remove_variables(env: Mapping[str, str], unset: tuple[str, ...]) -> dict[str, str]:
    """Return C{env} without the variables in C{unset}, where a C{*} at the end makes a prefix."""
    prefixes = tuple(name[:-1] for name in unset if name.endswith("*"))
    return {
        name: value
        for name, value in env.items()
        if name not in unset and not (prefixes and name.startswith(prefixes))
    }
