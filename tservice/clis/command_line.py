"""Construction of the command line for a CLI entry and its launch parameters. No shell parses the
result.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tservice.clis.field_types import PLACEHOLDER, RESUME_ID
from tservice.clis.model import CliEntry
from tservice.clis.params import LaunchParam, ParamValue
from tservice.core.kernel.errors import ErrorCode, ServiceError, make_field_error

_CONVERSATION = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,99}")


def resolve_params(
    entry: CliEntry, given: Mapping[str, object], *, granted: bool
) -> tuple[dict[str, ParamValue], tuple[str, ...]]:
    """Validate launch parameters, fill in defaults, and lower values that the caller may not use.

    @param given: requested values by name. C{None} as a value means that the parameter is absent.
    @param granted: true if the caller has the grant to bypass permissions.
    @return: the parameters to use, and the names of those that were lowered.
    @raise ServiceError: 400 naming C{params.<name>} for an invalid value; 403 for a privileged
        value that has no permitted replacement.
    """
    for name in given:
        if name not in entry.params:
            raise make_field_error(f"params.{name[:64]}", f"{entry.id} has no such parameter")
    used: dict[str, ParamValue] = {}
    clamped: list[str] = []
    for name, param in entry.params.items():
        value = _check_value(name, param, given.get(name))
        if value is None:
            continue
        if not granted and param.needs_grant(value):
            value = _clamp_value(name, param)
            clamped.append(name)
        used[name] = value
    return used, tuple(clamped)


def check_params_need_no_grant(entry: CliEntry, used: Mapping[str, ParamValue]) -> None:
    """Check that the parameters in use need no grant.

    @param used: result of L{resolve_params}, perhaps for another entry than C{entry}.
    @raise ServiceError: 403 if a value needs the grant to bypass permissions.
    """
    for name, param in entry.params.items():
        if name in used and param.needs_grant(used[name]):
            raise _grant_error(name)


def build_argv(
    entry: CliEntry, binary: str, params: Mapping[str, ParamValue], resume: str | None
) -> tuple[str, ...]:
    """Return the command line: program, arguments of the entry, arguments to resume, and options.

    An argument of the entry that refers to a parameter without a value is left out. Parameters that
    occur in the entry's arguments add no option.

    @param binary: program to run.
    @param params: as returned by L{resolve_params}.
    @param resume: conversation id accepted by L{check_conversation_id}, or C{None} for a new
        conversation.
    """
    words = entry.argv
    if words[0] in entry.binaries:
        words = words[1:]
    named: set[str] = set()
    argv = [binary]
    for word in words:
        names = PLACEHOLDER.findall(word)
        named.update(names)
        if all(name in params for name in names):
            argv.append(_fill_placeholders(word, params))
    if resume is not None and entry.resume is not None:
        argv += [_fill_placeholders(word, {RESUME_ID: resume}) for word in entry.resume.argv]
    for name, param in entry.params.items():
        if name in params and name not in named:
            argv += _make_flag_arguments(param, params[name])
    return tuple(argv)


def check_conversation_id(entry: CliEntry, conversation: str) -> None:
    """Refuse a conversation id that a program could parse as an option or as several arguments.

    @raise ServiceError: 400 naming C{resumeSessionId}.
    """
    if entry.resume is None:
        raise make_field_error("resumeSessionId", f"{entry.label} cannot resume a conversation")
    if not _CONVERSATION.fullmatch(conversation):
        raise make_field_error(
            "resumeSessionId", "must be 1 to 100 letters, digits, _ and -, and not begin with -"
        )


def _check_value(name: str, param: LaunchParam, value: object) -> ParamValue | None:
    if value is None:
        return param.default
    rule = param.find_broken_rule(value)
    if rule is not None or not isinstance(value, str | bool | int):
        raise make_field_error(f"params.{name}", rule or "must be a string, a number or a boolean")
    return value


def _clamp_value(name: str, param: LaunchParam) -> ParamValue:
    if param.clamp_to is None:
        raise _grant_error(name)
    return param.clamp_to


def _grant_error(name: str) -> ServiceError:
    return ServiceError(
        ErrorCode.FORBIDDEN, f"params.{name}: this value needs the grant to bypass permissions"
    )


def _fill_placeholders(word: str, values: Mapping[str, ParamValue]) -> str:
    return PLACEHOLDER.sub(lambda match: _format_value(values[match[1]]), word)


def _format_value(value: ParamValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _make_flag_arguments(param: LaunchParam, value: ParamValue) -> list[str]:
    if param.flag is None or value is False:
        return []
    if value is True:
        return [param.flag]
    if param.flag.endswith("="):
        return [param.flag + _format_value(value)]
    return [param.flag, _format_value(value)]
