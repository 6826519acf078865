"""Interface of the CLI registry for other features.

How to launch a session::

    entry = clis.require(mode)          # 400 for an unknown or a disabled mode
    plan = clis.launch(LaunchRequest(
        mode=mode, params={"model": "opus"}, overrides=body.env_overrides,
        granted=identity.can_bypass_permissions, resume=conversation_id or None,
        pane=PaneVariables(session_id=..., api_url=..., hook_secret_file=...),
        place=place,
    ))
    PaneSpec(argv=plan.argv, env=plan.env, place=place, ...)
    record.params = plan.params         # the parameters in use, after defaults and clamping

C{model}, C{effort} and C{permissionMode} of a request are ordinary launch parameters: put those
that the caller gave into C{params}.  A restore calls C{launch} without C{require}, as C{enabled}
does not affect existing sessions.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import field, frozen
from zope.interface import Interface

from tservice.clis.answer_keys import AnswerKeys
from tservice.clis.capabilities import (
    CliCapabilities,
    CustomModelStyle,
    FolderSource,
    HookSupport,
    McpConfigFile,
    McpFormat,
    TranscriptFormat,
    TrustDialogPolicy,
    is_agent_configuration,
)
from tservice.clis.controls import AgentControl, CommandControl, CycleControl
from tservice.clis.model import CliEntry, CliKind
from tservice.clis.params import ParamValue
from tservice.clis.registry_file import StoredRegistry, read_stored_registry
from tservice.clis.submission import DraftParking, SubmissionRules
from tservice.core.locations.location import Location

__all__ = [
    "AgentControl",
    "AnswerKeys",
    "CliCapabilities",
    "CliEntry",
    "CliKind",
    "CommandControl",
    "CustomModelStyle",
    "CycleControl",
    "DraftParking",
    "FolderSource",
    "HookSupport",
    "ICliRegistry",
    "InstalledCli",
    "LaunchPlan",
    "LaunchRequest",
    "McpConfigFile",
    "McpFormat",
    "PaneVariables",
    "ParamValue",
    "StoredRegistry",
    "SubmissionRules",
    "TranscriptFormat",
    "TrustDialogPolicy",
    "is_agent_configuration",
    "read_stored_registry",
]


@frozen(kw_only=True)
class PaneVariables:
    """Values of a pane's C{SERVICE_*} variables; C{SERVICE_MUX=1} is added (protocol-environment).

    @ivar hook_secret_file: a path; the secret itself is never in an environment.
    """

    session_id: str
    api_url: str
    hook_secret_file: str


@frozen(kw_only=True)
class LaunchRequest:
    """Program that a caller wants to run.

    @ivar params: launch parameters by name, as declared in the entry's C{params}.
    @ivar resume: the agent's conversation id to resume: 1 to 100 letters, digits, C{_} and C{-},
        not first C{-}; C{None} starts a new conversation.
    @ivar overrides: C{envOverrides} of protocol-environment.
    @ivar granted: the caller may bypass permissions; else privileged values are clamped, and
        variables that are not harmless and entries that run any command unasked are refused.
    @ivar place: location of the pane.
    """

    mode: str
    pane: PaneVariables
    place: Location
    granted: bool
    params: Mapping[str, object] = field(factory=dict)
    resume: str | None = None
    overrides: Mapping[str, str] = field(factory=dict)


@frozen(kw_only=True)
class LaunchPlan:
    """Program to run.

    @ivar argv: for exec, never for a shell; the first word is an absolute path in that location.
    @ivar env: the whole environment of the pane.
    @ivar params: the parameters in use: given, or by default.
    @ivar clamped: names of parameters that were lowered because the grant is missing.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    params: Mapping[str, ParamValue]
    clamped: tuple[str, ...] = ()


@frozen(kw_only=True)
class InstalledCli:
    """CLI in a location.

    @ivar path: absolute path in that location.
    @ivar env: environment of a pane there, without the service's additions.
    """

    path: str
    env: Mapping[str, str]


class ICliRegistry(Interface):
    """Registry of the CLIs that sessions can run.  Every error is a L{ServiceError}."""

    def list_entries() -> tuple[CliEntry, ...]:
        """Return all entries, including disabled ones, by C{order} and id."""

    def get_entry(mode: str) -> CliEntry | None:
        """Return the entry with this id, including disabled ones."""

    def require_enabled(mode: str) -> CliEntry:
        """Return the entry for a new session requested by a caller.

        @raise ServiceError: 400 naming C{mode}: unknown, or disabled.
        """

    def gives_signals(mode: str) -> bool:
        """Return true if sessions of C{mode} give C{stop} and C{blocked}, and their dialogs become
        inbox items.

        The signals come from hooks or, with the setting C{externalSignals}, from the screens
        (protocol-signals).
        """

    def find_binary(entry: CliEntry) -> Path | None:
        """Return the executable for the service's own user: on PATH, then in the usual folders;
        cached for 30 s.
        """

    def pane_environment(mode: str, overrides: Mapping[str, str]) -> Mapping[str, str]:
        """Return the environment of a pane of that mode on this machine, without the service's
        additions.

        @param overrides: C{envOverrides} of the session; empty for an unknown mode.
        """

    def find_program(
        mode: str, overrides: Mapping[str, str], place: Location, *, granted: bool
    ) -> InstalledCli:
        """Return the CLI to be run in addition to a session of that mode; may block on a disk.

        @param overrides: as for L{pane_environment}.
        @param granted: as L{LaunchRequest.granted}.
        @raise ServiceError: 400 for an unknown mode, or a variable that is no longer allowed; 403:
            the entry, or a variable, needs the grant; 422: it is not installed there.
        """

    def read_configured_model(mode: str, env: Mapping[str, str]) -> str | None:
        """Return the model in the agent's own configuration, read without a cache.

        @param env: the pane's environment: L{LaunchPlan.env}.
        """

    def check_request(request: LaunchRequest) -> Mapping[str, ParamValue]:
        """Run all checks of L{plan_launch} except that of the binary, for a session that starts
        later.

        @return: the parameters as in L{LaunchPlan.params}.
        @raise ServiceError: as in L{plan_launch}.
        """

    def check_needs_no_grant(
        mode: str, params: Mapping[str, ParamValue], overrides: Mapping[str, str]
    ) -> None:
        """Check that a running program needs no grant.

        @param params: L{LaunchPlan.params} of its start; nothing can be lowered now.
        @param overrides: C{envOverrides} that it was started with.
        @raise ServiceError: 403: the entry, a value or a variable needs the grant; 400: the entry
            no longer exists.
        """

    def check_prompt(mode: str, text: str, named: str, *, granted: bool) -> None:
        """Check that a prompt does not make the agent run a shell command without asking.

        @param named: the field that holds it.
        @param granted: as L{LaunchRequest.granted}; everything passes then.
        @raise ServiceError: 403 naming the field.
        """

    def plan_launch(request: LaunchRequest) -> LaunchPlan:
        """Return the program to run with its arguments and environment.

        @raise ServiceError: 400 naming the field (C{mode}, C{params.x}, C{resumeSessionId},
            C{envOverrides.X}); 403 when the entry, a variable, or a value that cannot be clamped,
            needs the grant; 422 when the CLI is not installed (the text gives the install command).
        """

    async def fit_to_version(mode: str, plan: LaunchPlan, place: Location) -> LaunchPlan:
        """Return C{plan} without the words that the program in C{place} is too old for.

        The version is read only from programs of the service's own user; others are assumed to be
        new enough.
        """
