"""Environment of a pane.  Pure functions: the service's environment is a parameter.

Only listed variables reach a pane (protocol-environment): no password, key or C{SERVICE_*} variable
of the service.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping

from attrs import field, frozen

from tservice.clis.field_types import is_refused
from tservice.clis.interfaces import PaneVariables
from tservice.clis.model import CliEntry
from tservice.core.errors import ErrorCode, ServiceError, invalid_field
from tservice.core.process.program_folders import join_path
from tservice.core.users.os_users import is_of_locale

BASE_NAMES = frozenset(
    {"PATH", "HOME", "SHELL", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "SSH_AUTH_SOCK"}
)
BASE_FOLDERS = re.compile(r"XDG_[A-Z]+_(?:HOME|DIRS?)")
"""XDG variables that name folders; the others describe the desktop or login of the service."""
TERMINAL_VARIABLES = frozenset({"TERM", "COLORTERM"})
"""Variables of the terminal, which the multiplexer sets: the service's terminal is not the
pane's.
"""
OVERRIDES = 64
"""Limit of C{envOverrides} of a session."""
OVERRIDE_BYTES = 64 * 1024
"""Limit of bytes of all names and values: the kernel limits the arguments of exec."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")


@frozen
class CheckedOverrides:
    """Validated C{envOverrides}, made by L{check_overrides} only.

    L{added_environment} accepts nothing else, so that unchecked overrides never reach a pane.
    """

    values: Mapping[str, str] = field(repr=False)


def base_environment(
    environ: Mapping[str, str], entry: CliEntry, extra: tuple[str, ...] = ()
) -> dict[str, str]:
    """Return the variables that pass from the service's environment to a pane.

    @param extra: further names that the operator permits (C{SERVICE_PANE_ENV}).
    """
    return {
        name: value
        for name, value in environ.items()
        if _passes_to_pane(name, entry, extra) and name not in entry.env.unset
    }


def added_environment(
    entry: CliEntry, judged: CheckedOverrides, pane: PaneVariables
) -> dict[str, str]:
    """Return the variables added by the entry, the caller and the service; later ones win."""
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
    """Refuse overrides that the entry does not allow, or not for this caller
    (protocol-environment).

    @param granted: the caller may bypass permissions; else only the entry's harmless names may be
        set, as a variable can name commands, endpoints and configurations.
    @raise ServiceError: 400 naming C{envOverrides.<NAME>}; 403 naming it, if it needs the grant;
        the text never contains a value.
    """
    if len(overrides) > OVERRIDES:
        raise invalid_field("envOverrides", f"must have at most {OVERRIDES} entries")
    size = 0
    for name, value in overrides.items():
        if not _NAME.fullmatch(name):
            raise invalid_field("envOverrides", "names must be at most 128 letters, digits and _")
        if not entry.env.allows_override(name):
            raise invalid_field(f"envOverrides.{name}", f"may not be set for {entry.id}")
        size += len(name) + len(_encode_value(name, value))
    if size > OVERRIDE_BYTES:
        raise invalid_field("envOverrides", f"must have at most {OVERRIDE_BYTES} bytes in total")
    if not granted:
        check_harmless(entry, overrides)
    return CheckedOverrides(dict(overrides))


def path_with_node(path: str, program: str, is_there: Callable[[str], bool]) -> str:
    """Return C{path} with the folder of C{program} in front if that folder contains C{node}.

    Programs installed by npm begin with C{#!/usr/bin/env node}, and need the version of Node they
    were installed with.

    @param program: absolute, or a name, for which the path is unchanged.
    @param is_there: returns true if a file is executable.
    """
    folder = os.path.dirname(program)
    if not folder.startswith("/") or not is_there(f"{folder}/node"):
        return path
    return join_path(folder, path)


def without_service_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a child other than a pane: everything except the service's
    variables.
    """
    return {name: value for name, value in environ.items() if not name.startswith("SERVICE_")}


def _passes_to_pane(name: str, entry: CliEntry, extra: tuple[str, ...]) -> bool:
    if name in TERMINAL_VARIABLES:
        return False
    if name in BASE_NAMES or is_of_locale(name) or BASE_FOLDERS.fullmatch(name):
        return True
    return entry.env.passes_from_service(name) or (name in extra and not is_refused(name))


def check_harmless(entry: CliEntry, overrides: Mapping[str, str]) -> None:
    """Refuse overrides that need the grant.

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
        raise invalid_field(f"envOverrides.{name}", "must not contain a NUL")
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise invalid_field(f"envOverrides.{name}", "must be valid Unicode") from None
