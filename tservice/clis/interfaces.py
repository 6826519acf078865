"""What other features know of the CLI registry.

How to launch a session::

    entry = clis.require(mode)          # 400 for an unknown or a disabled mode
    plan = clis.launch(LaunchRequest(
        mode=mode, params={"model": "opus"}, overrides=body.env_overrides,
        granted=identity.can_bypass_permissions, resume=conversation_id or None,
        pane=PaneKeys(session_id=..., api_url=..., hook_secret_file=...),
        place=place,
    ))
    PaneSpec(argv=plan.argv, env=plan.env, place=place, ...)
    record.params = plan.params         # what was really used, after defaults and clamping

C{model}, C{effort} and C{permissionMode} of a request are plain launch parameters: put those that
the caller gave into C{params}.  A restore passes by C{require} and calls C{launch} at once, for
what already exists is not affected by C{enabled}.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import field, frozen
from zope.interface import Interface

from tservice.clis.answering import AnswerKeys
from tservice.clis.capabilities import (
    Capabilities,
    CustomModelStyle,
    FolderSource,
    Hooks,
    McpConfig,
    McpFormat,
    Transcript,
    Trust,
    is_agent_configuration,
)
from tservice.clis.controls import Command, Control, Cycle
from tservice.clis.model import CliEntry, CliKind
from tservice.clis.ondisk import OnDisk, entries_on_disk
from tservice.clis.params import ParamValue
from tservice.clis.submission import Park, Submission
from tservice.core.places.place import Place

__all__ = [
    "AnswerKeys",
    "Capabilities",
    "CliEntry",
    "CliKind",
    "Command",
    "Control",
    "CustomModelStyle",
    "Cycle",
    "FolderSource",
    "Hooks",
    "ICliRegistry",
    "Launch",
    "LaunchRequest",
    "McpConfig",
    "McpFormat",
    "OnDisk",
    "PaneKeys",
    "ParamValue",
    "Park",
    "Program",
    "Submission",
    "Transcript",
    "Trust",
    "entries_on_disk",
    "is_agent_configuration",
]


@frozen(kw_only=True)
class PaneKeys:
    """The C{SERVICE_*} variables of a pane; C{SERVICE_MUX=1} goes with them (protocol-environment).

    @ivar hook_secret_file: a path; the secret itself is never in an environment.
    """

    session_id: str
    api_url: str
    hook_secret_file: str


@frozen(kw_only=True)
class LaunchRequest:
    """What a caller wants to run.

    @ivar params: launch parameters by name, as the entry's C{params} declare them.
    @ivar resume: the agent's own conversation id to go on with: 1 to 100 letters, digits, C{_} and
        C{-}, not first C{-}; C{None} starts afresh.
    @ivar overrides: C{envOverrides} of protocol-environment.
    @ivar granted: the caller may bypass permissions; else privileged values are clamped, and
        variables that are not harmless and entries that run any command unasked are refused.
    @ivar place: where the pane runs.
    """

    mode: str
    pane: PaneKeys
    place: Place
    granted: bool
    params: Mapping[str, object] = field(factory=dict)
    resume: str | None = None
    overrides: Mapping[str, str] = field(factory=dict)


@frozen(kw_only=True)
class Launch:
    """What to run.

    @ivar argv: for exec, never for a shell; the first word is an absolute path there.
    @ivar env: the whole environment of the pane.
    @ivar params: the parameters in use: given, or by default.
    @ivar clamped: names of parameters that were lowered for want of the grant.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    params: Mapping[str, ParamValue]
    clamped: tuple[str, ...] = ()


@frozen(kw_only=True)
class Program:
    """A CLI in a place.

    @ivar path: absolute there.
    @ivar env: what a pane there is given, less what the service puts in.
    """

    path: str
    env: Mapping[str, str]


class ICliRegistry(Interface):
    """The CLIs that sessions can run.  Every error is a L{ServiceError}."""

    def entries() -> tuple[CliEntry, ...]:
        """All of them, disabled included, by C{order} and id."""

    def get(mode: str) -> CliEntry | None:
        """The entry of that id, disabled or not."""

    def require(mode: str) -> CliEntry:
        """The entry, for a new session that a caller asks for.

        @raise ServiceError: 400 naming C{mode}: unknown, or disabled.
        """

    def gives_signals(mode: str) -> bool:
        """Whether sessions of C{mode} give C{stop} and C{blocked}, and their dialogs make items.

        By hooks; or, while the setting C{externalSignals} is on, by what their screens show
        (protocol-signals).
        """

    def find_binary(entry: CliEntry) -> Path | None:
        """The executable in the service's own place: on PATH, then the usual folders; remembered
        for 30 s."""

    def pane_environment(mode: str, overrides: Mapping[str, str]) -> Mapping[str, str]:
        """What a pane of that mode on this machine is given, less what the service puts in.

        @param overrides: C{envOverrides} of the session; empty for an unknown mode.
        """

    def program(mode: str, overrides: Mapping[str, str], place: Place, *, granted: bool) -> Program:
        """The CLI itself, to be run beside a session of that mode; may wait for a disk.

        @param overrides: as for L{pane_environment}.
        @param granted: as L{LaunchRequest.granted}.
        @raise ServiceError: 400 for an unknown mode, or a variable that it does not take any more;
            403: the entry, or a variable, needs the grant; 422: it is not installed there.
        """

    def configured_model(mode: str, env: Mapping[str, str]) -> str | None:
        """The model that the agent's own configuration names, read afresh.

        @param env: the pane's environment: L{Launch.env}.
        """

    def check(request: LaunchRequest) -> Mapping[str, ParamValue]:
        """Everything that L{launch} checks but the binary, for a session that starts later.

        @return: the parameters as L{Launch.params} would hold them.
        @raise ServiceError: as L{launch}.
        """

    def check_grant(
        mode: str, params: Mapping[str, ParamValue], overrides: Mapping[str, str]
    ) -> None:
        """Make sure that what runs needs no grant.

        @param params: L{Launch.params} of its start: nothing can be lowered any more.
        @param overrides: C{envOverrides} that it was started with.
        @raise ServiceError: 403: the entry, a value or a variable needs it; 400: there is no such
            entry any more that would tell.
        """

    def check_prompt(mode: str, text: str, named: str, *, granted: bool) -> None:
        """Make sure that a prompt has the agent run no command of the shell, which nobody is asked
        about.

        @param named: the field that holds it.
        @param granted: as L{LaunchRequest.granted}; everything passes then.
        @raise ServiceError: 403 naming the field.
        """

    def launch(request: LaunchRequest) -> Launch:
        """Work out what to run.

        @raise ServiceError: 400 naming the field (C{mode}, C{params.x}, C{resumeSessionId},
            C{envOverrides.X}); 403 when the entry, a variable, or a value that cannot be clamped,
            needs the grant; 422 when the CLI is not installed (the text gives the install command).
        """

    async def fitted(mode: str, plan: Launch, place: Place) -> Launch:
        """Return C{plan} without the words that the program in C{place} is too old for.

        Only a program of the service's own user is asked; others are taken to be new enough.
        """
