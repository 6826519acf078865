"""C{tservice update}: upgrade the program in the way in which it was installed."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from enum import Enum
from importlib.metadata import distribution
from pathlib import Path

import tservice
from tservice.console.terminal import CommandError, Terminal
from tservice.console.unit import restart_if_installed

NAME = "tservice"


class InstallKind(Enum):
    """Ways in which the program can be installed."""

    UV_TOOL = "uv tool"
    PIPX = "pipx"
    CHECKOUT = "checkout"
    VENV = "pip in a virtual environment"
    SYSTEM = "pip without a virtual environment"


def find_install_kind(prefix: Path, base_prefix: Path, package: Path) -> InstallKind:
    """Return how the running program was installed.

    @param prefix: C{sys.prefix}.
    @param base_prefix: C{sys.base_prefix}; differs in a virtual environment.
    @param package: folder of the package C{tservice}.
    """
    if (prefix / "uv-receipt.toml").exists():
        return InstallKind.UV_TOOL
    if (prefix / "pipx_metadata.json").exists():
        return InstallKind.PIPX
    if (package.parent / "setup.py").exists() and (package.parent / ".git").exists():
        return InstallKind.CHECKOUT
    return InstallKind.SYSTEM if prefix == base_prefix else InstallKind.VENV


def list_update_commands(
    kind: InstallKind, source: str | None, python: str, checkout: Path
) -> list[list[str]]:
    """Return the commands that upgrade the program, in their order.

    @param source: wheel, archive or URL to install; C{None} for the newest release.
    @param python: path of the interpreter of this installation.
    @raise CommandError: this way of installing cannot be upgraded from here.
    """
    if kind is InstallKind.CHECKOUT:
        if source is not None:
            raise CommandError("this is a checkout: it is updated with git, not from a file")
        return [
            ["git", "-C", str(checkout), "pull", "--ff-only"],
            [python, "-m", "pip", "install", "--quiet", "--editable", str(checkout)],
            [python, str(checkout / "setup.py"), "-q", "build_web"],
        ]
    if kind is InstallKind.SYSTEM:
        raise CommandError(
            "this Python is not a virtual environment: upgrade it with the tool that installed it"
        )
    if kind is InstallKind.VENV:
        pip = [python, "-m", "pip", "install"]
        commands = [[*pip, "--upgrade", source or NAME]]
        if source is not None:  # pip keeps what has the version of the file
            commands.append([*pip, "--force-reinstall", "--no-deps", source])
        return commands
    program = "uv" if kind is InstallKind.UV_TOOL else "pipx"
    words = ["uv", "tool"] if kind is InstallKind.UV_TOOL else [program]
    if source is None:
        return [[*words, "upgrade", NAME]]
    return [[*words, "install", "--force", source]]


def update_program(source: str | None, terminal: Terminal) -> int:
    """Upgrade the program and restart the service; sessions go on.

    @param source: wheel, archive or URL to install; C{None} for the newest release.
    @raise CommandError: the program cannot be upgraded; the installed version stays in use.
    """
    package = Path(tservice.__file__).parent
    kind = find_install_kind(Path(sys.prefix), Path(sys.base_prefix), package)
    if source is None and kind is InstallKind.VENV:
        _refuse_unknown_source()
    for argv in list_update_commands(kind, source, sys.executable, package.parent):
        terminal.print_line(f"+ {' '.join(argv)}")
        status = terminal.replace(argv)
        if status != 0:
            raise CommandError(f"{argv[0]} failed with status {status}; nothing was restarted")
    if restart_if_installed(terminal):
        terminal.print_line("the service was restarted; its sessions went on")
    else:
        terminal.print_line("restart the service to use the new version; its sessions go on")
    return 0


def check_for_update(terminal: Terminal) -> int:
    """Print whether the package index has a newer version.

    @return: 0 if there is none, 1 if there is one.
    @raise CommandError: the index cannot be asked.
    """
    package = Path(tservice.__file__).parent
    kind = find_install_kind(Path(sys.prefix), Path(sys.base_prefix), package)
    if kind is InstallKind.CHECKOUT:
        return _check_checkout(package.parent, terminal)
    if kind is InstallKind.VENV:
        _refuse_unknown_source()
    done = terminal.run(_list_outdated_command(kind))
    if done.returncode != 0:
        raise CommandError((done.stderr.strip().splitlines() or ["the index did not answer"])[-1])
    newest = _find_newest(done.stdout)
    if newest is None:
        terminal.print_line(f"tservice {tservice.__version__} is the newest version")
        return 0
    terminal.print_line(f"tservice {newest} is available, {tservice.__version__} is installed")
    return 1


def _refuse_unknown_source() -> None:
    """Refuse to ask a package index for a program that did not come from there.

    A stranger could publish a package of the same name.

    @raise CommandError: pip installed the program from a file or a URL.
    """
    if distribution(NAME).read_text("direct_url.json") is not None:
        raise CommandError(
            "it was installed from a file, not from a package index: name the new wheel,"
            " as in 'tservice update FILE'"
        )


def _list_outdated_command(kind: InstallKind) -> Sequence[str]:
    words = ["list", "--outdated", "--format", "json"]
    if kind is InstallKind.UV_TOOL:
        return ["uv", "pip", *words, "--python", sys.executable]
    return [sys.executable, "-m", "pip", *words]


def _find_newest(text: str) -> str | None:
    try:
        rows = json.loads(text or "[]")
    except ValueError:
        raise CommandError("the list of outdated packages is not JSON") from None
    return next((str(row["latest_version"]) for row in rows if row["name"] == NAME), None)


def _check_checkout(folder: Path, terminal: Terminal) -> int:
    for words in (["fetch", "--quiet"], ["rev-list", "--count", "HEAD..@{upstream}"]):
        done = terminal.run(["git", "-C", str(folder), *words])
        if done.returncode != 0:
            raise CommandError((done.stderr.strip().splitlines() or ["git failed"])[0])
    behind = int(done.stdout)
    terminal.print_line("the checkout is up to date" if not behind else f"{behind} commits behind")
    return 1 if behind else 0
