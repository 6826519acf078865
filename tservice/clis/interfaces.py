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

from tservice.clis.agents.adapter_registry import (
    CONVERSATION_STORES,
    MODEL_INJECTIONS,
    ONE_SHOT_COMMANDS,
    SERVER_CHANNELS,
)
from tservice.clis.agents.conversation_store import ConversationStore
from tservice.clis.agents.model_injection import Injection, InjectionTarget
from tservice.clis.agents.server_channel import STATUS_SUFFIX, ServerChannel
from tservice.clis.capabilities import (
    AnswerKeys,
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
from tservice.clis.configured_models import MODEL_LENGTH
from tservice.clis.controls import AgentControl, CommandControl, CycleControl
from tservice.clis.model import PRIMARY, CliEntry, CliKind
from tservice.clis.params import ParamValue
from tservice.clis.registry_file import StoredRegistry, read_stored_registry
from tservice.clis.submission import DraftParking, SubmissionRules
from tservice.core.locations.location import Location

__all__ = [
    "CONVERSATION_STORES",
    "MODEL_INJECTIONS",
    "MODEL_LENGTH",
    "ONE_SHOT_COMMANDS",
    "PRIMARY",
    "SERVER_CHANNELS",
    "STATUS_SUFFIX",
    "AgentControl",
    "AnswerKeys",
    "CliCapabilities",
    "CliEntry",
    "CliKind",
    "CommandControl",
    "ConversationStore",
    "CustomModelStyle",
    "CycleControl",
    "DraftParking",
    "FolderSource",
    "HookSupport",
    "ICliRegistry",
    "Injection",
    "InjectionTarget",
    "InstalledCli",
    "LaunchPlan",
    "LaunchRequest",
    "McpConfigFile",
    "McpFormat",
    "PaneVariables",
    "ParamValue",
    "ServerChannel",
    "StoredRegistry",
    "SubmissionRules",
    "TranscriptFormat",
    "TrustDialogPolicy",
    "is_agent_configuration",
    "read_stored_registry",
]


@frozen(kw_only=True)
class PaneVariables:
    """Values of the C{SERVICE_*} variables in a pane. C{SERVICE_MUX=1} is always added
    (protocol-environment).

    @ivar hook_secret_file: path of the file with the hook secret. The secret itself is never in an
        environment.
    """

    session_id: str
    api_url: str
    hook_secret_file: str


@frozen(kw_only=True)
class LaunchRequest:
    """Request to launch a CLI.

    @ivar params: launch parameters by name, as declared in the entry's C{params}.
    @ivar resume: conversation id of the agent to resume: 1 to 100 letters, digits, C{_} and C{-},
        not starting with C{-}. C{None} starts a new conversation.
    @ivar overrides: C{envOverrides} of protocol-environment.
    @ivar granted: true if the caller may bypass permissions. For other callers privileged values
        are lowered. Variables that are not harmless, and entries that can run any command without
        asking, are refused.
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
    """Command, environment and parameters with which a pane is started.

    @ivar argv: program and arguments for exec, never for a shell. The program is an absolute path
        in the pane's location.
    @ivar env: complete environment of the pane.
    @ivar params: parameters in use, including defaults.
    @ivar clamped: names of parameters whose values were lowered because the caller lacks the grant.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    params: Mapping[str, ParamValue]
    clamped: tuple[str, ...] = ()


@frozen(kw_only=True)
class InstalledCli:
    """CLI that is installed in a location.

    @ivar path: absolute path of the program in that location.
    @ivar env: environment of a pane in that location, without the service's own variables.
    """

    path: str
    env: Mapping[str, str]


class ICliRegistry(Interface):
    """Registry of the CLIs that sessions can run. All errors raised are L{ServiceError}."""

    def list_entries() -> tuple[CliEntry, ...]:
        """Return all entries, including disabled ones, sorted by C{order} and id."""

    def get_entry(mode: str) -> CliEntry | None:
        """Return the entry with this id, even if it is disabled; C{None} if there is none."""

    def get_enabled_entry(mode: str) -> CliEntry:
        """Return the entry for a new session that a caller requests.

        @raise ServiceError: 400 naming C{mode} if the entry is unknown or disabled.
        """

    def gives_signals(mode: str) -> bool:
        """Return true if sessions of C{mode} give the signals C{stop} and C{blocked}.

        The dialogs of these sessions also become inbox items. The signals come from hooks or, with
        the setting C{externalSignals}, from the screens (protocol-signals).
        """

    def find_binary(entry: CliEntry) -> Path | None:
        """Return the path of the entry's program for the service's own user, or C{None}.

        C{PATH} is searched first, then the usual folders. The result is cached for 30 s.
        """

    def build_pane_environment(mode: str, overrides: Mapping[str, str]) -> Mapping[str, str]:
        """Return the environment of a pane on this machine, without the service's own variables.

        @param overrides: C{envOverrides} of the session. Must be empty if C{mode} is unknown.
        """

    def find_program(
        mode: str, overrides: Mapping[str, str], place: Location, *, granted: bool
    ) -> InstalledCli:
        """Find the CLI of a session's mode, in order to run it outside the session's pane.

        May block on a disk.

        @param overrides: as for L{build_pane_environment}.
        @param place: location in which to search.
        @param granted: as L{LaunchRequest.granted}.
        @raise ServiceError: 400 for an unknown mode, or a variable that is no longer allowed; 403
            if the entry or a variable needs the grant; 422 if the CLI is not installed in C{place}.
        """

    def read_configured_model(mode: str, env: Mapping[str, str]) -> str | None:
        """Return the model in the agent's own configuration file, or C{None}. The file is read at
        each call.

        @param env: environment of the pane, as in L{LaunchPlan.env}.
        """

    def check_request(request: LaunchRequest) -> Mapping[str, ParamValue]:
        """Run all checks of L{plan_launch}, except that the program is installed.

        This is for a session that starts later.

        @return: the parameters as in L{LaunchPlan.params}.
        @raise ServiceError: as in L{plan_launch}.
        """

    def check_needs_no_grant(
        mode: str, params: Mapping[str, ParamValue], overrides: Mapping[str, str]
    ) -> None:
        """Check that a caller without the grant would have been allowed to start a running program.

        @param params: L{LaunchPlan.params} with which it was started. They cannot be lowered any
            more.
        @param overrides: C{envOverrides} with which it was started.
        @raise ServiceError: 403 if the entry, a value or a variable needs the grant; 400 if the
            entry no longer exists.
        """

    def check_prompt(mode: str, text: str, named: str, *, granted: bool) -> None:
        """Check that a prompt does not make the agent run a shell command without asking.

        @param named: name of the request field that contains the prompt.
        @param granted: as L{LaunchRequest.granted}. Every prompt is accepted if true.
        @raise ServiceError: 403 naming the field.
        """

    def plan_launch(request: LaunchRequest) -> LaunchPlan:
        """Return the command line and environment for a request.

        @raise ServiceError: 400 naming the field (C{mode}, C{params.x}, C{resumeSessionId},
            C{envOverrides.X}). 403 if the entry, a variable, or a value that cannot be lowered
            needs the grant. 422 if the CLI is not installed; the text contains the install command.
        """

    async def remove_unsupported_arguments(
        mode: str, plan: LaunchPlan, place: Location
    ) -> LaunchPlan:
        """Return C{plan} without the arguments that the installed version is too old for.

        The version is read only from programs of the service's own user. Other programs are assumed
        to be new enough.
        """

    async def find_server_channel(
        mode: str, plan: LaunchPlan, place: Location
    ) -> ServerChannel | None:
        """Return the channel of a launch with the usual command; C{None} if there is none.

        The installed version is read, so only programs of the service's own user have a channel.
        """
