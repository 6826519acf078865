"""Command line of C{twistd tservice}."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from twisted.python import usage

from tservice import __version__
from tservice.core.config.load import LoadedConfig, load_config
from tservice.core.config.model import list_settings
from tservice.core.kernel.errors import StartError


class Options(usage.Options):
    """Options that follow C{tservice} on the command line, merged with the other configuration
    layers.

    @ivar loaded: the merged configuration; set once the options are parsed.
    """

    synopsis = "[tservice options]"
    longdesc = (
        "Each option is also a key of the YAML file (without the dashes) and a SERVICE_* "
        "variable. The password is no option: set SERVICE_PASSWORD or --password-file."
    )
    optFlags = [
        [form, None, text]
        for entry in list_settings()
        if entry.flag
        for form, text in ((entry.name, entry.help), (f"no-{entry.name}", f"Not {entry.name}."))
    ]
    optParameters = [
        ["config", None, None, "YAML file of settings (SERVICE_CONFIG)."],
        *(
            [entry.name, None, None, entry.help]
            for entry in list_settings()
            if entry.on_command_line and not entry.flag and entry.name != "listen"
        ),
    ]

    loaded: LoadedConfig

    def __init__(self, environ: Mapping[str, str] = os.environ, home: Path | None = None) -> None:
        super().__init__()
        self._environ = environ
        self._home = home or Path.home()
        self._listen: list[str] = []

    def opt_listen(self, endpoint: str) -> None:
        """Listen on a Twisted endpoint (tcp, tcp6, ssl, unix); may be repeated."""
        self._listen.append(endpoint)

    def opt_version(self) -> None:
        """Print the version and exit."""
        print(f"tservice {__version__}")
        raise SystemExit(0)

    def parseOptions(self, options: Any = None) -> None:
        """Parse the command line.

        @raise StartError: an option is invalid; the text is one line instead of the whole usage.
        """
        words = sys.argv[1:] if options is None else options
        try:
            self._refuse_unknown(words)
            super().parseOptions(words)
        except usage.UsageError as error:
            raise StartError(f"{error} (see twistd tservice --help)") from None

    def _refuse_unknown(self, words: Sequence[str]) -> None:
        """Refuse abbreviated long options.

        getopt would read C{--password} as C{--password-file}, and errors would show the password as
        the name of a file.

        @param words: the arguments of the command line.
        @raise usage.UsageError: the option does not exist.
        """
        rest = iter(words)
        for word in rest:
            if word == "--" or not word.startswith("-"):
                return  # getopt stops here too
            name, given, _ = word.removeprefix("--").partition("=")
            if f"{name}=" in self.longOpt:
                if not given:
                    next(rest, None)
            elif word.startswith("--") and name not in self.longOpt:
                raise usage.UsageError(f"option --{name} not recognized")

    def parseArgs(self) -> None:
        """Accept no positional arguments."""

    def postOptions(self) -> None:
        """Merge all layers of the configuration (protocol-startup).

        @raise StartError: a setting is invalid.
        """
        self.loaded = load_config(self._given_values(), self._environ, self._home)

    def _given_values(self) -> dict[str, object]:
        found: dict[str, object] = {"config": self["config"], "listen": self._listen or None}
        for entry in list_settings():
            if entry.flag:
                found[entry.name] = self._flag_value(entry.name)
            elif entry.name in self:
                found[entry.name] = self[entry.name]
        return found

    def _flag_value(self, name: str) -> bool | None:
        if self[name] and self[f"no-{name}"]:
            raise StartError(f"--{name} and --no-{name} are both given: use one of them")
        if self[name] or self[f"no-{name}"]:
            return bool(self[name])
        return None
