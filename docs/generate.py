"""Write the generated parts of all documents.

Settings are declared in L{tservice.core.config.model}, the commands of C{tsctl} in
L{tservice.client.commands.table}, events in L{tservice.core.kernel.events}, operations and their
scopes by the features. C{make docs} runs this module, and a test fails when a document differs
from its output. L{tools.generated} makes the Python client and the types of the browser UI from
two of these files.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo

from docs.cli_table import make_cli_table
from tests.security.harness import SecurityHarness
from tests.security.token_effects import Capability, get_effects, reachable_operations
from tools.generated import write_generated_code
from tservice import __version__
from tservice.client.commands.record import CommandOption, CommandSpec
from tservice.client.commands.table import COMMANDS, GLOBAL
from tservice.core.config.model import SettingEntry, list_settings
from tservice.core.kernel import event_payloads as told
from tservice.core.kernel.events import EventAudience, EventName
from tservice.core.kernel.scopes import Scope
from tservice.core.values.payload import Payload
from tservice.http.docs.openapi import make_document
from tservice.http.operations import Operation

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
SETTINGS, TSCTL, EVENTS, CLIS = "settings", "commands", "events", "clis"
"""Names of the marker lines that enclose generated parts."""
YAML_HEAD = """\
# Configuration of tservice(8): every key with its default.  A line that is not commented out
# counts; the environment (SERVICE_*) and the command line win over this file.  An unknown key
# or a wrong value stops the start.
"""
SCOPES_HEAD = """\
Scopes of tokens
================

Each operation, the scope that a `token <../explain/security.rst#security-tokens>`_ needs for it,
and the reason. The token's owner must also be allowed to call the operation at that moment. A token
that is bound to sessions reaches these sessions only. A token of an admin reaches the sessions of
all accounts.

Each section also says what the scope leads to beyond its answers, including indirect ways. A token
that can type can run any command, and so can a program in that pane.

``make docs`` writes this page from the declarations of the operations. The tests follow every way
from one operation to the next, and call each operation with an admin's token of all scopes. They
fail when a password, account, cookie, token or code can be read or changed. They also fail when an
operation has no reason here.
"""
SCOPES_NONE = """\
No token reaches these. Some decide who may sign in, and would let a token outlive itself or gain
rights. The others are of no use to a program.
"""


def default_text(entry: SettingEntry) -> str:
    """Return the default as people write it; empty for none."""
    value = entry.default
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(value)
    return "" if value is None else str(value)


def option_text(entry: SettingEntry) -> str:
    """Return the long option; empty for none."""
    return f"--{entry.name}" if entry.on_command_line else ""


def variable_text(entry: SettingEntry) -> str:
    """Return the environment variable; empty for none."""
    return entry.variable if entry.in_environment else ""


def rst_table() -> str:
    """Return the list-table of settings for the reference."""
    lines = [".. list-table::", "   :header-rows: 1", ""]
    rows = [("YAML key", "Environment", "Default", "Meaning")]
    rows += [
        (_literal(entry.name), _literal(variable_text(entry)), _literal(default_text(entry)),
         entry.help)
        for entry in list_settings()
    ]  # fmt: skip
    for row in rows:
        lines += [f"   {'*' if cell is row[0] else ' '} - {cell}".rstrip() for cell in row]
    return "\n".join(lines) + "\n"


def man_list() -> str:
    """Return one paragraph for each setting, in the markup of man(7)."""
    return "".join(_man_entry(entry) for entry in list_settings())


def yaml_file() -> str:
    """Return the sample configuration file: every key, commented out."""
    parts = [YAML_HEAD]
    for entry in list_settings():
        value = default_text(entry)
        if entry.many:
            value = f"[{', '.join(_yaml_word(word) for word in value.split(', ') if word)}]"
        parts.append(f"\n# {entry.help}\n#{entry.name}: {value}".rstrip() + "\n")
    return "".join(parts)


def scopes_page() -> str:
    """Return the page of scopes: the operations of each, with reasons."""
    parts, operations = [SCOPES_HEAD], sorted(all_operations(), key=lambda it: (it.path, it.method))
    for scope in (*Scope, None):
        title = "No token" if scope is None else f"``{scope}``"
        parts.append(f"\n{title}\n{'-' * len(title)}\n\n{_powers_text(scope)}")
        parts.append(".. list-table::\n   :header-rows: 1\n\n   * - Operation\n     - Why\n")
        rows = [it for it in operations if it.scope is scope]
        parts += [f"   * - ``{it.name}``\n     - {it.scope_reason}\n" for it in rows]
    return "".join(parts)


def _powers_text(scope: Scope | None) -> str:
    if scope is None:
        return f"{SCOPES_NONE}\n"
    powers = {power for name in reachable_operations(scope) for power in get_effects(name).powers}
    if not powers:
        return "It has no effects beyond its responses.\n\n"
    return f"It {', '.join(power for power in Capability if power in powers)}.\n\n"


def commands_table() -> str:
    """Return the list-table of commands for their page."""
    lines = [".. list-table::", "   :header-rows: 1", "", "   * - Command", "     - Meaning"]
    for command in COMMANDS:
        lines += [f"   * - ``{synopsis(command)}``", f"     - {_sentence(command.help)}"]
    return "\n".join(lines) + "\n"


def commands_list() -> str:
    """Return one paragraph for each command, with its options, in the markup of man(7)."""
    return "".join(_man_command(command) for command in COMMANDS) + "".join(
        _man_option(option) for option in GLOBAL
    )


def synopsis(command: CommandSpec) -> str:
    """Return the synopsis of a command: arguments first, optional parts in brackets."""
    names = "|".join((command.name, *command.aliases))
    parts = sorted(command.options, key=lambda option: not option.is_positional)
    return " ".join((names, *map(_usage, parts)))


def events_table() -> str:
    """Return the list-table of events for their page."""
    lines = [".. list-table::", "   :header-rows: 1", "", "   * - Event", "     - When"]
    lines += ["     - Payload", "     - Receivers"]
    for name in EventName:
        lines += [f"   * - ``{name}``", f"     - {name.when}"]
        lines += [f"     - {told_text(name.payload)}", f"     - {_HEARERS[name.audience]}"]
    return "\n".join(lines) + "\n"


def whole_document() -> Mapping[str, Any]:
    """Return the OpenAPI document of all operations."""
    return make_document(all_operations(), __version__)


@cache
def all_operations() -> tuple[Operation, ...]:
    """Return all operations, from a daemon assembled in memory."""
    world = SecurityHarness()
    try:
        return tuple(world.operations)
    finally:
        world.close()


def openapi_file() -> str:
    """Return the OpenAPI document as the committed file has it."""
    return json.dumps(whole_document(), indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def event_schemas(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of each event's payload.

    @param document: the OpenAPI document, to whose schemas these refer.
    """
    known = {name.rpartition("__")[2]: name for name in document["components"]["schemas"]}
    found: dict[str, Any] = {}
    for event in EventName:
        model = _concrete(event.payload)
        if model.__name__ in known:
            found[event.value] = {"$ref": _REF.format(model=known[model.__name__])}
        else:
            found[event.value] = model.model_json_schema(mode="serialization", ref_template=_REF)
            found[event.value].pop("$defs", None)
    return found


def events_file() -> str:
    """Return the schemas of the events as the committed file has them."""
    return json.dumps(event_schemas(whole_document()), indent=1, ensure_ascii=False) + "\n"


def told_text(payload: type[Payload]) -> str:
    """Return the payload of an event: its fields, or the name of its record."""
    if payload in _WHOLE:
        return _WHOLE[payload]
    optional = {name: "" if field.is_required() else "?" for name, field in _fields(payload)}
    names = ", ".join(f"{name}{mark}" for name, mark in optional.items())
    return f"``{{{names}}}``"


def between(text: str, comment: str, content: str, what: str = SETTINGS) -> str:
    """Return C{text} with C{content} between its two marker lines."""
    opening, closing = f"{comment}{what} begin", f"{comment}{what} end"
    before, begin, rest = text.partition(f"{opening}\n")
    _, end, after = rest.partition(f"{closing}\n")
    if not begin or not end:
        raise ValueError(f"the lines '{opening}' and '{closing}' are missing")
    return f"{before}{begin}{content}{end}{after}"


def documents() -> dict[Path, Callable[[str], str]]:
    """Return each generated document, with the function from its old text to the new one."""
    return {
        DOCS / "reference/settings.rst": lambda old: between(old, ".. ", f"\n{rst_table()}\n"),
        ROOT / "man/tservice.8": lambda old: between(old, '.\\" ', man_list()),
        DOCS / "reference/tsctl.rst": lambda old: between(
            old, ".. ", f"\n{commands_table()}\n", TSCTL
        ),
        ROOT / "man/tsctl.1": lambda old: between(old, '.\\" ', commands_list(), TSCTL),
        ROOT / "etc/tservice.yaml": lambda old: yaml_file(),
        DOCS / "reference/clis.rst": lambda old: between(
            old, ".. ", f"\n{make_cli_table()}\n", CLIS
        ),
        DOCS / "reference/scopes.rst": lambda old: scopes_page(),
        DOCS / "openapi.json": lambda old: openapi_file(),
        DOCS / "reference/protocol/streams.rst": lambda old: between(
            old, ".. ", f"\n{events_table()}\n", EVENTS
        ),
        DOCS / "events.json": lambda old: events_file(),
    }


_REF = "#/components/schemas/{model}"
_HEARERS = {
    EventAudience.EVERYONE: "everyone",
    EventAudience.OWNER: "the owner, admins",
    EventAudience.ADMINS: "admins",
    EventAudience.PERSON: "that admin",
}

_WHOLE: dict[type[Payload], str] = {
    told.InitialStatePayload: "the `state <streams.rst#protocol-state>`_",
    told.SessionPayload: "the `session <sessions.rst#protocol-session>`_",
    told.ApprovalPayload: "the `item <agents.rst#protocol-approvals>`_",
    told.CronJobsPayload: (
        "``{jobs}``: `jobs <features.rst#protocol-cron-job>`_, a long prompt is omitted"
    ),
    told.CronRunPayload: "the `run <features.rst#protocol-cron-run>`_",
    told.CasePayload: "the `case <workspaces.rst#protocol-cases>`_",
    told.SettingsPayload: "the settings, without write-only fields",
    told.WebhookPayload: "the response of ``GET /api/webhook``",
    told.RestoreReportPayload: "the response of a `restore <models.rst#protocol-restore>`_",
    told.ModelEndpointsPayload: "``{endpoints}``",
    told.McpSyncPayload: "the result of the `sync <models.rst#protocol-mcp-sync>`_",
}
"""Payloads that are a feature's whole answer; the declared type is only a part of it."""


def _concrete(payload: type[Payload]) -> type[Payload]:
    """Return the response of the feature for which core declares C{payload} in part."""
    found = [each for each in payload.__subclasses__() if each.__module__ != told.__name__]
    return _concrete(found[0]) if found else payload


def _fields(payload: type[Payload]) -> list[tuple[str, FieldInfo]]:
    return [(field.alias or name, field) for name, field in payload.model_fields.items()]


def _literal(text: str) -> str:
    return f"``{text}``" if text else ""


def _yaml_word(word: str) -> str:
    return f'"{word}"' if ":" in word else word


def _man_entry(entry: SettingEntry) -> str:
    names = [text for text in (option_text(entry), variable_text(entry)) if text]
    if not entry.on_command_line:
        names.append(f"{entry.name} (YAML)")
    default = default_text(entry)
    text = entry.help + (f" Default: {default}." if default else "")
    shown = ", ".join(names).replace("-", "\\-")
    return f".TP\n.B {shown}\n{text.replace('-', chr(92) + '-')}\n"


def _man_command(command: CommandSpec) -> str:
    text = f"{_sentence(command.help)}  {command.about}".rstrip()
    lines = [".TP", f".B {_roff(synopsis(command))}", _roff(text)]
    options = "".join(_man_option(option) for option in command.options)
    return "\n".join(lines) + (f"\n.RS\n{options}.RE\n" if options else "\n")


def _man_option(option: CommandOption) -> str:
    names = ", ".join(option.names) + _value(option)
    text = _sentence(option.help)
    if option.choices:
        text += f"  One of {', '.join(option.choices)}."
    if option.default:
        text += f"  Default: {option.default}."
    return f".TP\n.B {_roff(names)}\n{_roff(text)}\n"


def _usage(option: CommandOption) -> str:
    word = option.names[0] + _value(option)
    if option.is_positional:
        return {"": word, "?": f"[{word}]", "+": f"{word}..."}[option.repeat]
    return f"[{word}]"


def _value(option: CommandOption) -> str:
    if option.bare:
        return f"[={option.value}]"
    return f" {option.value}" if option.value else ""


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _roff(text: str) -> str:
    """Return the text with all markup escaped."""
    return text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")


def main() -> None:
    """Write every document."""
    for path, rewrite in documents().items():
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        path.write_text(rewrite(old), encoding="utf-8")
    write_generated_code()


if __name__ == "__main__":
    main()
