"""Changes to a pane's environment and files that make an agent use a model endpoint.

The styles are those of the registry's C{customModel.style} (protocol-models). Variables that could
send the agent, the endpoint's key or a key of the user to another endpoint are removed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from attrs import field, frozen

from tservice.clis.capabilities import CustomModelStyle

KEY_VARIABLE = "CUSTOM_MODEL_KEY"
PROVIDER = "custom"


@frozen(kw_only=True)
class InjectionTarget:
    """Endpoint and model to use, and the folder for the agent's files.

    @ivar root: base URL of the endpoint, without C{/v1} and without a slash at the end.
    @ivar key: key of the endpoint, or a placeholder.
    @ivar label: name of the endpoint for people.
    @ivar sends_api_key: true if the header C{x-api-key} carries the key; otherwise it is a bearer
        token.
    @ivar context_length: context length of the model in tokens; C{None} if it is unknown.
    @ivar folder: folder that only this session uses.
    @ivar env: environment of the pane before the changes.
    """

    root: str
    key: str = field(repr=False)
    label: str
    sends_api_key: bool
    model_id: str
    context_length: int | None
    folder: Path
    env: Mapping[str, str]

    def find_user_folder(self, variable: str, default: str) -> Path:
        """Return the folder in which the user's agent keeps its files.

        @param variable: environment variable that can specify the folder.
        @param default: path below the home folder if the variable is not set.
        """
        moved = self.env.get(variable, "")
        return Path(moved) if moved.startswith("/") else Path(self.env.get("HOME", "/")) / default


@frozen(kw_only=True)
class Injection:
    """Changes to a pane's environment and files.

    @ivar env: variables that any process may see.
    @ivar secrets: variables that only the pane's program may see.
    @ivar unset: names of variables that the pane must not inherit. A C{*} at the end makes a
        prefix.
    @ivar files: contents of files by name. They are written into the session's folder.
    @ivar bases: names in C{files}, each with an existing file. Both are JSON. The contents are
        merged into those of the existing file.
    @ivar links: names of symbolic links in the session's folder, each with the user's folder that
        it points to.
    @ivar trusted: path of the user's Claude Code state file. The trust of the working folder is
        copied from there into the session's file of the same name. C{None} if it is not copied.
    """

    env: Mapping[str, str] = field(factory=dict)
    secrets: Mapping[str, str] = field(factory=dict, repr=False)
    unset: tuple[str, ...] = ()
    files: Mapping[str, str] = field(factory=dict, repr=False)
    bases: Mapping[str, Path] = field(factory=dict)
    links: Mapping[str, Path] = field(factory=dict)
    trusted: Path | None = None


BuildInjection = Callable[[InjectionTarget], Injection]


@frozen(kw_only=True)
class ModelInjection:
    """Way in which a CLI is made to use an endpoint."""

    style: CustomModelStyle
    build: BuildInjection


def to_json(data: object) -> str:
    """Return JSON text for a configuration file."""
    return json.dumps(data, ensure_ascii=False)


def quote_toml_string(text: str) -> str:
    """Return a TOML string. A JSON string is valid TOML, except for the DEL character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
