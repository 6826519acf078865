"""Construction of a pane's environment from the service's environment.

Only listed variables reach a pane (protocol-environment). Passwords, keys and C{SERVICE_*}
variables of the service never do.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping

from attrs import field, frozen

from tservice.clis.field_types import is_refused
from tservice.clis.interfaces import PaneVariables
from tservice.clis.model import CliEntry
from tservice.core.kernel.errors import ErrorCode, ServiceError, make_field_error
from tservice.core.process.program_folders import join_path
from tservice.core.users.os_users import is_locale_variable

BASE_NAMES = frozenset(
    {"PATH", "HOME", "SHELL", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "SSH_AUTH_SOCK"}
)
BASE_FOLDERS = re.compile(r"XDG_[A-Z]+_(?:HOME|DIRS?)")
"""Pattern of the XDG variables that contain folders. The other XDG variables describe the desktop
or the login of the service.
"""
TERMINAL_VARIABLES = frozenset({"TERM", "COLORTERM"})
"""Variables that the multiplexer sets for the pane's terminal. The service's own values do not
apply.
"""
OVERRIDES = 64
"""Maximum number of C{envOverrides} of a session."""
OVERRIDE_BYTES = 64 * 1024
"""Maximum number of bytes of all names and values, as the kernel limits the arguments of exec."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")


@frozen
class CheckedOverrides:
    """Validated C{envOverrides}. Only L{check_overrides} creates objects of this class.

    L{build_added_environment} accepts no other type, so that unchecked overrides never reach a
    pane.
    """

    values: Mapping[str, str] = field(repr=False)


def build_inherited_environment(
    environ: Mapping[str, str], entry: CliEntry, extra: tuple[str, ...] = ()
) -> dict[str, str]:
    """Return the variables that a pane inherits from the service's environment.

    @param extra: names of further variables that the operator permits (C{SERVICE_PANE_ENV}).
    """
    return {
        name: value
        for name, value in environ.items()
        if _passes_to_pane(name, entry, extra) and name not in entry.env.unset
    }


def build_added_environment(
    entry: CliEntry, judged: CheckedOverrides, pane: PaneVariables
) -> dict[str, str]:
    """Return the variables that the entry, the caller and the service add, in this order. Later
    ones win.
    """
    return {
        **entry.env.set,
        **judged.values,
        "SERVICE_MUX": "1",
        "SERVICE_SESSION_ID": pane.session_id,
        "SERVICE_API_URL": pane.api_url,
        "SERVICE_HOOK_SECRET_FILE": pane.hook_secret_file,
    }


def check_overrides(
    entry: CliEntry, overrides: Mapping[str, str], *, granted: bool
) -> CheckedOverrides:
    """Validate C{envOverrides} against the entry and the caller's grant (protocol-environment).

    @param granted: true if the caller may bypass permissions. Other callers may set the entry's
        harmless variables only, as a variable can specify commands, endpoints and configurations.
    @raise ServiceError: 400 naming C{envOverrides.<NAME>} for a variable that the entry does not
        allow; 403 naming a variable that needs the grant. The text never contains a value.
    """
    if len(overrides) > OVERRIDES:
        raise make_field_error("envOverrides", f"must have at most {OVERRIDES} entries")
    size = 0
    for name, value in overrides.items():
        if not _NAME.fullmatch(name):
            raise make_field_error(
                "envOverrides", "names must be at most 128 letters, digits and _"
            )
        if not entry.env.allows_override(name):
            raise make_field_error(f"envOverrides.{name}", f"may not be set for {entry.id}")
        size += len(name) + len(_encode_value(name, value))
    if size > OVERRIDE_BYTES:
        raise make_field_error("envOverrides", f"must have at most {OVERRIDE_BYTES} bytes in total")
    if not granted:
        check_overrides_harmless(entry, overrides)
    return CheckedOverrides(dict(overrides))


def add_node_folder(path: str, program: str, is_there: Callable[[str], bool]) -> str:
    """Return C{path} preceded by the folder of C{program}, if that folder contains C{node}.

    Programs installed by npm begin with C{#!/usr/bin/env node}. They need the version of Node with
    which they were installed.

    @param path: a value of C{PATH}.
    @param program: absolute path. For a bare name C{path} is returned unchanged.
    @param is_there: returns true if a file may be executed.
    """
    folder = os.path.dirname(program)
    if not folder.startswith("/") or not is_there(f"{folder}/node"):
        return path
    return join_path(folder, path)


def remove_service_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for a child process that is not a pane, without the service's own
    variables.
    """
    return {name: value for name, value in environ.items() if not name.startswith("SERVICE_")}


def _passes_to_pane(name: str, entry: CliEntry, extra: tuple[str, ...]) -> bool:
    if name in TERMINAL_VARIABLES:
        return False
    if name in BASE_NAMES or is_locale_variable(name) or BASE_FOLDERS.fullmatch(name):
        return True
    return entry.env.is_inherited_from_service(name) or (name in extra and not is_refused(name))


def check_overrides_harmless(entry: CliEntry, overrides: Mapping[str, str]) -> None:
    """Check that C{overrides} contain only variables that need no grant.

    @raise ServiceError: 403 naming C{envOverrides.<NAME>}.
    """
    for name in overrides:
        if name not in entry.env.harmless:
            raise ServiceError(
                ErrorCode.FORBIDDEN,
                f"envOverrides.{name}: needs the grant to bypass permissions for {entry.id}",
            )


def _encode_value(name: str, value: str) -> bytes:
    if "\0" in value:
        raise make_field_error(f"envOverrides.{name}", "must not contain a NUL")
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise make_field_error(f"envOverrides.{name}", "must be valid Unicode") from None
