"""Layers of configuration: defaults, YAML file, environment, command line.  Later ones override
earlier ones.
"""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from tservice.core.config.model import PREFIX, Config, SettingEntry, list_settings
from tservice.core.kernel.errors import StartError

CONFIG_VARIABLE = "SERVICE_CONFIG"
CREDENTIAL = "tservice.password"
"""Name of the systemd credential that holds the password (LoadCredential=)."""

PANE_VARIABLES = frozenset(
    {"SERVICE_MUX", "SERVICE_SESSION_ID", "SERVICE_API_URL", "SERVICE_HOOK_SECRET_FILE"}
)
"""Variables that a pane's environment contains.  A service that is started inside a pane of another
service ignores them.
"""

NO_HTTP2 = (
    "http2: this setting is deprecated and has no effect; remove it, and use a reverse proxy to"
    " serve HTTP/2"
)
"""Warning for the setting C{http2}, if any layer turns it on."""


@frozen(kw_only=True)
class LoadedConfig:
    """Merged configuration, with warnings about problems that do not prevent the start."""

    config: Config
    warnings: tuple[str, ...]


def load_config(
    options: Mapping[str, object], environ: Mapping[str, str], home: Path
) -> LoadedConfig:
    """Merge every layer into one L{Config}.

    @param options: the command line's values by setting name, and the path of the YAML file as
        C{config}.
    @raise StartError: a setting is invalid.  The text is one line that names the setting, its
        source and the broken rule.
    """
    table = list_settings()
    values: dict[str, object] = _read_credential_layer(environ)
    named = {"--config": options.get("config"), CONFIG_VARIABLE: environ.get(CONFIG_VARIABLE)}
    where, name = next(((where, name) for where, name in named.items() if name), ("", None))
    if name is not None:
        file = _expand_path(Path(str(name)), home)
        layer = _read_yaml_layer(f"{where}: {file}", file, table)
        values |= _read_layer_password(layer, f"{file}: password-file", home)
    layer = _read_environment_layer(environ, table)
    values |= _read_layer_password(layer, "SERVICE_PASSWORD_FILE", home)
    values |= _read_layer_password(_read_option_layer(options, table), "--password-file", home)
    for entry in table:
        raw = values.get(entry.attribute, entry.default)
        if isinstance(raw, Path):
            values[entry.attribute] = _expand_path(raw, home)
    made: dict[str, Any] = values
    config = Config(**made)
    config = evolve(config, has_stored_password=os.path.lexists(config.password_hash_file))
    without_effect = (NO_HTTP2,) if config.http2 else ()
    warnings = (*_unknown_variables(environ, table), *without_effect)
    return LoadedConfig(config=config, warnings=warnings)


def _read_yaml_layer(where: str, file: Path, table: tuple[SettingEntry, ...]) -> dict[str, object]:
    import yaml  # slow to import, and few operators use a file

    try:
        text = file.read_text(encoding="utf-8")
        document = yaml.safe_load(text)
    except OSError as error:
        raise StartError(f"{where}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise StartError(f"{where}: must be UTF-8") from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise StartError(f"{where}: not valid YAML (line {line})") from None
    except yaml.YAMLError:
        raise StartError(f"{where}: not valid YAML") from None
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise StartError(f"{where}: must be a mapping of keys to values")
    if document.get("password") is not None:
        _check_private(where, file)
    return _parse_yaml_value(file, document, table)


def _parse_yaml_value(
    file: Path, document: Mapping[object, object], table: tuple[SettingEntry, ...]
) -> dict[str, object]:
    known = {entry.name: entry for entry in table}
    values: dict[str, object] = {}
    for key, raw in document.items():
        entry = known.get(str(key))
        if entry is None:
            raise StartError(f"{file}: unknown key {str(key)!r}{_suggest_key(str(key), known)}")
        if raw is not None:
            values[entry.attribute] = _parse_setting(entry, raw, f"{file}: {entry.name}")
    return values


def _read_environment_layer(
    environ: Mapping[str, str], table: tuple[SettingEntry, ...]
) -> dict[str, object]:
    """Read the settings from environment variables; an empty variable counts as unset."""
    return {
        entry.attribute: _parse_setting(entry, environ[entry.variable], entry.variable)
        for entry in table
        if entry.in_environment and environ.get(entry.variable)
    }


def _read_option_layer(
    options: Mapping[str, object], table: tuple[SettingEntry, ...]
) -> dict[str, object]:
    return {
        entry.attribute: _parse_setting(entry, options[entry.name], f"--{entry.name}")
        for entry in table
        if options.get(entry.name) is not None
    }


def _read_credential_layer(environ: Mapping[str, str]) -> dict[str, object]:
    folder = environ.get("CREDENTIALS_DIRECTORY")
    if not folder or not (Path(folder) / CREDENTIAL).is_file():
        return {}
    file = Path(folder) / CREDENTIAL
    return {"password": _read_password(f"credential {CREDENTIAL}: {file}", file)}


def _read_layer_password(layer: dict[str, object], where: str, home: Path) -> dict[str, object]:
    """Return the layer with its password file read into C{password}.

    @param where: the name of the password file setting in that layer.
    """
    file = layer.get("password_file")
    if not isinstance(file, Path):
        return layer
    if "password" in layer:
        raise StartError(f"{where}: password and password-file are both set: use one of them")
    file = _expand_path(file, home)
    where = f"{where}: {file}"
    _check_private(where, file)
    return {**layer, "password": _read_password(where, file)}


def _check_private(where: str, file: Path) -> None:
    """Refuse a password file that other users of the machine can read.

    @raise StartError: C{file} is readable by all users, or its mode cannot be read.
    """
    try:
        mode = stat.S_IMODE(file.stat().st_mode)
    except OSError as error:
        raise StartError(f"{where}: {error.strerror}") from None
    if mode & 0o007:
        raise StartError(f"{where}: holds a password but has mode {mode:04o}: chmod 600 it")


def _read_password(where: str, file: Path) -> str:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise StartError(f"{where}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise StartError(f"{where}: must be UTF-8") from None
    if not lines or not lines[0]:
        raise StartError(f"{where}: its first line must be the password")
    return lines[0]


def _parse_setting(entry: SettingEntry, raw: object, where: str) -> object:
    try:
        return entry.parse(raw)
    except ValueError as rule:
        raise StartError(f"{where}: {rule}") from None


def _expand_path(path: Path, home: Path) -> Path:
    """Return C{path} as an absolute path, with C{~} replaced by the home folder.

    A daemon changes its current folder, so relative paths would change their meaning.
    """
    if path.parts[:1] == ("~",):
        return home.joinpath(*path.parts[1:])
    return path.absolute()


def _suggest_key(word: str, known: Mapping[str, object]) -> str:
    close = difflib.get_close_matches(word.replace("_", "-").lower(), known, n=1)
    return f" (did you mean {close[0]}?)" if close else ""


def _unknown_variables(
    environ: Mapping[str, str], table: tuple[SettingEntry, ...]
) -> tuple[str, ...]:
    known = {entry.variable for entry in table if entry.in_environment}
    known |= PANE_VARIABLES | {CONFIG_VARIABLE}
    return tuple(
        f"{name}: unknown setting, ignored"
        for name in sorted(environ)
        if name.startswith(PREFIX) and name not in known
    )
