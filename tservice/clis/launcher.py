"""Registry of the CLI entries in use, and planning of their launches."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path, PurePath

from attrs import evolve, frozen
from twisted.logger import Logger
from zope.interface import implementer

from tservice.clis.binary_lookup import BinaryLookup
from tservice.clis.capabilities import HookSupport
from tservice.clis.cli_versions import (
    NODE_VERSION,
    CliVersionReader,
    find_needed_node,
    is_before,
)
from tservice.clis.command_line import (
    build_argv,
    check_conversation_id,
    check_params_need_no_grant,
    resolve_params,
)
from tservice.clis.configured_models import read_configured_model
from tservice.clis.environments import (
    CheckedOverrides,
    add_node_folder,
    build_added_environment,
    build_inherited_environment,
    check_overrides,
    check_overrides_harmless,
)
from tservice.clis.interfaces import (
    PRIMARY,
    SERVER_CHANNELS,
    ICliRegistry,
    InstalledCli,
    LaunchPlan,
    LaunchRequest,
    ServerChannel,
)
from tservice.clis.model import CliEntry, CliKind
from tservice.clis.params import ParamValue
from tservice.clis.registry_merge import MergedRegistry
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_failure_error,
    make_field_error,
)
from tservice.core.locations.location import OWN_LOCATION, Location
from tservice.settings.interfaces import ISettings

PERMISSION_MODE = "permissionMode"
PERMISSION_MODES = {"bypass": "bypassPermissions", "auto": "auto", "normal": "default"}
"""Permission mode of the primary CLI by value of the setting C{primaryMode}."""

SANDBOX = "IS_SANDBOX"
"""Environment variable that lets the primary CLI bypass permissions as root, if set to C{1}."""

NO_EDITOR = {"EDITOR": "false", "VISUAL": "false"}
"""Variables for agents of accounts without the grant. An editor could run any command."""

SHELLS = frozenset({"bash", "zsh", "fish", "ksh", "mksh", "dash", "ash", "sh"})
"""Programs that are accepted from C{$SHELL}. The login shell of a locked account is not one of
them.
"""


@frozen(kw_only=True)
class _CheckedRequest:
    """Launch request that passed all checks, with its entry and parameters."""

    entry: CliEntry
    params: Mapping[str, ParamValue]
    clamped: tuple[str, ...]
    overrides: CheckedOverrides


@implementer(ICliRegistry)
class CliRegistry:
    """Registry of the CLI entries in use. It also plans their launches."""

    _log = Logger()

    def __init__(
        self,
        *,
        settings: ISettings,
        lookup: BinaryLookup,
        environ: Mapping[str, str],
        pane_env: tuple[str, ...] = (),
        versions: CliVersionReader | None = None,
    ) -> None:
        """Create a registry.

        @param lookup: finds programs that the service's own user can run.
        @param environ: environment of the service.
        @param versions: reader of program versions. C{None} treats every program as new enough.
        """
        self._versions = versions
        self._settings = settings
        self._lookup = lookup
        self._environ = environ
        self._pane_env = pane_env
        self._merged = MergedRegistry({}, {})

    def replace_entries(self, merged: MergedRegistry) -> None:
        """Use the entries in C{merged} from now on."""
        for name, fault in merged.faults.items():
            self._log.warn("clis.json: {name!r} is ignored: {fault}", name=name, fault=fault)
        self._merged = merged

    def list_entries(self) -> tuple[CliEntry, ...]:
        return self._merged.sorted_entries()

    def get_entry(self, mode: str) -> CliEntry | None:
        return self._merged.entries.get(mode)

    def get_enabled_entry(self, mode: str) -> CliEntry:
        entry = self._get_known_entry(mode)
        if not entry.enabled:
            raise make_field_error("mode", f"{mode} is disabled")
        return entry

    def gives_signals(self, mode: str) -> bool:
        entry = self.get_entry(mode)
        if entry is None:
            return False
        can = entry.capabilities
        on_screen = can.screen_signals and self._settings.get().external_signals
        return can.hooks is not HookSupport.NONE or on_screen

    def find_binary(self, entry: CliEntry) -> Path | None:
        return self._lookup.find_program(_list_binary_names(entry, self._environ.get("SHELL", "")))

    def build_pane_environment(self, mode: str, overrides: Mapping[str, str]) -> Mapping[str, str]:
        entry = self.get_entry(mode)
        if entry is None:
            return {}
        base = build_inherited_environment(self._environ, entry, self._pane_env)
        return {**base, **entry.env.set, **overrides}

    def find_program(
        self, mode: str, overrides: Mapping[str, str], place: Location, *, granted: bool
    ) -> InstalledCli:
        entry = self._get_permitted(mode, granted=granted)
        judged = check_overrides(entry, overrides, granted=granted)
        environ = place.build_environment(self._pane_env)
        base = build_inherited_environment(environ, entry, self._pane_env)
        env = {**base, **entry.env.set, **judged.values}
        path = _find_installed(entry, place)
        return InstalledCli(path=path, env=_add_program_path(env, entry, path, place))

    def read_configured_model(self, mode: str, env: Mapping[str, str]) -> str | None:
        entry = self.get_entry(mode)
        detect = entry.capabilities.model_detect if entry is not None else None
        if detect is None or detect.config_reader is None:
            return None
        return read_configured_model(detect.config_reader, env)

    def check_request(self, request: LaunchRequest) -> Mapping[str, ParamValue]:
        return self._validate_launch_request(request).params

    def check_needs_no_grant(
        self, mode: str, params: Mapping[str, ParamValue], overrides: Mapping[str, str]
    ) -> None:
        entry = self._get_permitted(mode, granted=False)
        check_params_need_no_grant(entry, params)
        check_overrides_harmless(entry, overrides)

    def check_prompt(self, mode: str, text: str, named: str, *, granted: bool) -> None:
        entry = self.get_entry(mode)
        if granted or entry is None or entry.kind is CliKind.SHELL:
            return
        submission = entry.capabilities.submission
        if submission.runs_shell_command(text):
            what = f"{named}: a prompt that begins with {submission.shell}"
            raise ServiceError(ErrorCode.FORBIDDEN, f"{what} needs the grant to bypass permissions")

    def plan_launch(self, request: LaunchRequest) -> LaunchPlan:
        judged = self._validate_launch_request(request)
        entry = judged.entry
        environ = request.place.build_environment(self._pane_env)
        binary = _find_installed(entry, request.place)
        base = build_inherited_environment(environ, entry, self._pane_env)
        return LaunchPlan(
            argv=build_argv(entry, binary, judged.params, request.resume),
            env={
                **_add_program_path(base, entry, binary, request.place),
                **build_added_environment(entry, judged.overrides, request.pane),
                **({} if request.granted else NO_EDITOR),
            },
            params=judged.params,
            clamped=judged.clamped,
        )

    async def remove_unsupported_arguments(
        self, mode: str, plan: LaunchPlan, place: Location
    ) -> LaunchPlan:
        entry = self.get_entry(mode)
        asked = None if entry is None else entry.version
        late = {} if asked is None else asked.since
        # The service does not run programs that another user can replace.
        if asked is None or self._versions is None or place.id != OWN_LOCATION:
            return plan
        if asked.node:
            await self._check_node(plan)
        if not set(late).intersection(plan.argv):
            return plan
        version = await self._read_version(mode, plan, place)
        if version is None:
            return plan
        refused = {word for word, first in late.items() if is_before(version, first)}
        return evolve(plan, argv=tuple(word for word in plan.argv if word not in refused))

    async def find_server_channel(
        self, mode: str, plan: LaunchPlan, place: Location
    ) -> ServerChannel | None:
        channel, entry = SERVER_CHANNELS.get(mode), self.get_entry(mode)
        if channel is None or entry is None:
            return None
        usual = () if channel.replaces is None else (channel.replaces,)
        # Further words of a user's own command may be meant for the server, too.
        if entry.argv[1:] != usual or not set(usual) <= set(plan.argv):
            return None
        version = await self._read_version(mode, plan, place)
        return None if version is None or is_before(version, channel.since) else channel

    async def _read_version(self, mode: str, plan: LaunchPlan, place: Location) -> str | None:
        entry = self.get_entry(mode)
        asked = None if entry is None else entry.version
        if asked is None or self._versions is None or place.id != OWN_LOCATION:
            return None
        return await self._versions.read_version(Path(plan.argv[0]), asked)

    async def _check_node(self, plan: LaunchPlan) -> None:
        """Check that Node.js is new enough for the package of a program.

        @raise ServiceError: 422: the program cannot run.
        """
        program = Path(plan.argv[0])
        needed, node = find_needed_node(program), shutil.which("node", path=plan.env.get("PATH"))
        if needed is None or node is None or self._versions is None:
            return
        found = await self._versions.read_version(Path(node), NODE_VERSION)
        if found is not None and is_before(found, needed):
            raise make_failure_error(
                f"{program.name} needs Node.js {needed} or newer, and {node} is {found}. "
                "Install a newer Node.js"
            )

    def _validate_launch_request(self, request: LaunchRequest) -> _CheckedRequest:
        """Validate a request. Every launch passes through this check."""
        entry = self._get_permitted(request.mode, granted=request.granted)
        params, clamped = resolve_params(
            entry, self._get_requested_params(request), granted=request.granted
        )
        if request.resume is not None:
            check_conversation_id(entry, request.resume)
        overrides = check_overrides(entry, request.overrides, granted=request.granted)
        return _CheckedRequest(entry=entry, params=params, clamped=clamped, overrides=overrides)

    def _get_requested_params(self, request: LaunchRequest) -> Mapping[str, object]:
        """Return the caller's parameters. For the primary CLI the settings determine the permission
        mode.

        The primary CLI refuses the mode C{bypass} as root outside a sandbox, so it starts in its
        normal mode then. A caller who requests C{bypass} explicitly gets that mode, and sees the
        CLI refuse it. A caller without the grant always gets C{auto} instead.
        """
        if request.mode != PRIMARY or request.params.get(PERMISSION_MODE) is not None:
            return request.params
        chosen = self._settings.get().primary_mode
        root = request.granted and request.place.user.uid == 0
        if chosen == "bypass" and root and not _has_sandbox_variable(request):
            chosen = "normal"
        return {**request.params, PERMISSION_MODE: PERMISSION_MODES[chosen]}

    def _get_permitted(self, mode: str, *, granted: bool) -> CliEntry:
        """Return the entry of C{mode} if the caller may run it.

        @raise ServiceError: 400 for an unknown mode; 403 if the entry needs the grant.
        """
        entry = self._get_known_entry(mode)
        if entry.capabilities.privileged_command_gate and not granted:
            raise ServiceError(
                ErrorCode.FORBIDDEN, f"{entry.label} needs the grant to bypass permissions"
            )
        return entry

    def _get_known_entry(self, mode: str) -> CliEntry:
        entry = self.get_entry(mode)
        if entry is None:
            known = ", ".join(entry.id for entry in self.list_entries())
            raise make_field_error("mode", f"must be one of {known}")
        return entry


def _has_sandbox_variable(request: LaunchRequest) -> bool:
    there = request.place.build_environment().get(SANDBOX)
    return request.overrides.get(SANDBOX, there) == "1"


def _find_installed(entry: CliEntry, place: Location) -> str:
    if entry.id in place.commands:
        return place.commands[entry.id]
    found = place.find_program(_list_binary_names(entry, place.user.shell))
    if found is None:
        looked = place.get_search_path() or "no folder"
        raise make_failure_error(
            f"{entry.label} is not installed: {entry.install_hint} (searched in {looked})"
        )
    return str(found)


def _add_program_path(
    env: Mapping[str, str], entry: CliEntry, program: str, place: Location
) -> Mapping[str, str]:
    """Return C{env} with a C{PATH} on which C{program} finds other programs and its version of
    Node.

    On remote hosts the search for Node takes place when the pane starts.
    """
    path = place.get_search_path()
    if entry.kind is not CliKind.SHELL and place.has_local_files:
        path = add_node_folder(path, program, lambda file: place.find_program((file,)) is not None)
    return {**env, "PATH": path} if path and "PATH" not in entry.env.unset else env


def _list_binary_names(entry: CliEntry, login: str) -> tuple[str, ...]:
    """Return the names of the entry's program, best first. For a shell the user's login shell is
    first.

    @param login: path of the user's login shell.
    """
    shell = PurePath(login)
    if entry.kind is CliKind.SHELL and shell.is_absolute() and shell.name in SHELLS:
        return (str(shell), *entry.binaries)
    return entry.binaries
