"""Catalogue of the programs that the doctor checks, and how to install them (protocol-doctor)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from attrs import frozen

from tservice.doctor.model import HostTool, ToolCategory
from tservice.mux.tmux_version import MIN_TMUX

MIN_PYTHON = (3, 11)
"""Minimum Python version, as in C{python_requires} of setup.cfg."""

INSTALL = {
    "apt": "sudo apt-get install {}",
    "dnf": "sudo dnf install {}",
    "pacman": "sudo pacman -S {}",
    "apk": "sudo apk add {}",
    "brew": "brew install {}",
}
"""Command of each package manager that installs a package."""
PROGRAMS = {"apt": "apt-get", "dnf": "dnf", "pacman": "pacman", "apk": "apk", "brew": "brew"}
"""Program of each package manager, by which it is recognised, in order of preference."""


def _same_package(name: str, **others: str) -> dict[str, str]:
    return {**dict.fromkeys(INSTALL, name), **others}


PYTHON = HostTool(
    id="python",
    label="Python",
    category=ToolCategory.CORE,
    names=("python3",),
    required=True,
    least=MIN_PYTHON,
    packages=_same_package("python3", pacman="python", brew="python"),
)
"""Entry for the interpreter that runs the service, whose path is already known."""

TOOLS = (
    HostTool(
        id="tmux",
        label="tmux",
        category=ToolCategory.CORE,
        names=("tmux",),
        required=True,
        version_args=("-V",),
        least=MIN_TMUX,
        packages=_same_package("tmux"),
    ),
    HostTool(
        id="git",
        label="Git",
        category=ToolCategory.CORE,
        names=("git",),
        least=(2, 31),
        packages=_same_package("git"),
    ),
    HostTool(
        id="curl",
        label="curl",
        category=ToolCategory.CORE,
        names=("curl",),
        required=True,
        packages=_same_package("curl"),
    ),
    HostTool(
        id="libreoffice",
        label="LibreOffice",
        category=ToolCategory.OFFICE,
        names=("libreoffice", "soffice"),
        packages=_same_package(
            "libreoffice", pacman="libreoffice-fresh", brew="--cask libreoffice"
        ),
    ),
    HostTool(
        id="pdftoppm",
        label="pdftoppm",
        category=ToolCategory.OFFICE,
        names=("pdftoppm",),
        version_args=("-v",),
        packages=_same_package("poppler-utils", pacman="poppler", brew="poppler"),
    ),
    HostTool(
        id="ssh",
        label="OpenSSH client",
        category=ToolCategory.OTHER,
        names=("ssh",),
        version_args=("-V",),
        # Other clients named ssh print a version, but lack the options of OpenSSH.
        proof=("-F", "none", "-G", "localhost"),
        packages=_same_package("openssh", apt="openssh-client", dnf="openssh-clients"),
    ),
    HostTool(
        id="podman",
        label="Podman",
        category=ToolCategory.OTHER,
        names=("podman",),
        # It prints its version even without usable storage.
        proof=("info",),
        packages=_same_package("podman"),
    ),
    HostTool(
        id="docker",
        label="Docker",
        category=ToolCategory.OTHER,
        names=("docker",),
        # The client prints its version even without the daemon.
        proof=("version", "--format", "{{.Server.Version}}"),
        partner="daemon",
        packages=_same_package("docker", apt="docker.io", dnf="moby-engine", brew="--cask docker"),
    ),
    HostTool(
        id="cloudflared",
        label="cloudflared",
        category=ToolCategory.OTHER,
        names=("cloudflared",),
        packages={"pacman": "cloudflared", "brew": "cloudflared"},
        advice="Install it from https://github.com/cloudflare/cloudflared/releases",
    ),
    HostTool(
        id="chromium",
        label="Chromium",
        category=ToolCategory.OTHER,
        names=("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
        packages=_same_package("chromium", brew="--cask chromium"),
    ),
)


@frozen(kw_only=True)
class ExaminedCli:
    """Enabled entry of the CLI registry, as the doctor needs it.

    @ivar install: instruction how to install the CLI.
    @ivar version_args: arguments that print its version; empty means that it is not run.
    @ivar pattern: regular expression for the version in its output.
    """

    id: str
    label: str
    names: tuple[str, ...]
    install: str
    version_args: tuple[str, ...] = ()
    pattern: str = ""


def make_cli_tool(cli: ExaminedCli) -> HostTool:
    """Return the catalogue entry of a CLI, which has no minimum version."""
    return HostTool(
        id=f"cli-{cli.id}",
        label=cli.label,
        category=ToolCategory.CORE,
        names=cli.names,
        version_args=cli.version_args,
        pattern=cli.pattern,
        advice=cli.install,
    )


def list_tools(category: ToolCategory | None, clis: Iterable[ExaminedCli]) -> list[HostTool]:
    """Return the programs to check, except Python; those of the category core come first.

    @param category: only programs of this category; C{None} means all categories.
    """
    core = [tool for tool in TOOLS if tool.category is ToolCategory.CORE]
    rest = [tool for tool in TOOLS if tool.category is not ToolCategory.CORE]
    every = [*core, *map(make_cli_tool, clis), *rest]
    return [tool for tool in every if category in (None, tool.category)]


def choose_package_manager(platform: str, found: Sequence[str]) -> str | None:
    """Return the id of this host's package manager; C{None} if it has no known one.

    @param platform: value of C{sys.platform}.
    @param found: ids in L{PROGRAMS} whose program exists.
    """
    if platform == "darwin":
        return "brew"
    return next((name for name in PROGRAMS if name in found), None)


def make_install_hint(tool: HostTool, manager: str | None) -> str:
    """Return a hint how to install C{tool}; never empty.

    @param manager: id of the host's package manager; C{None} if unknown.
    """
    package = tool.packages.get(manager or "")
    if manager is not None and package is not None:
        return INSTALL[manager].format(package)
    if tool.advice:
        return tool.advice
    return f"Install {tool.label} with the system's package manager"


def parse_clis(data: Iterable[Mapping[str, object]]) -> list[ExaminedCli]:
    """Parse CLIs in the child process, from the values of L{encode_clis}."""
    return [
        ExaminedCli(
            id=str(entry["id"]),
            label=str(entry["label"]),
            names=_parse_words(entry["names"]),
            install=str(entry["install"]),
            version_args=_parse_words(entry["versionArgs"]),
            pattern=str(entry["pattern"]),
        )
        for entry in data
    ]


def encode_clis(clis: Iterable[ExaminedCli]) -> list[dict[str, object]]:
    """Return the CLIs as JSON values, to be sent to the child process."""
    return [
        {
            "id": cli.id,
            "label": cli.label,
            "names": list(cli.names),
            "install": cli.install,
            "versionArgs": list(cli.version_args),
            "pattern": cli.pattern,
        }
        for cli in clis
    ]


def _parse_words(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()
