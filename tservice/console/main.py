"""Entry point of the command C{tservice}; see tservice(1)."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from tservice import __version__
from tservice.client.commands.parsing import OneLineErrorParser
from tservice.console.terminal import (
    FAILED,
    CommandError,
    Terminal,
    run_program,
    stream_program,
)
from tservice.core.kernel.errors import StartError

SETTINGS = "Every setting is an option as well, for example --listen tcp:9000; see tservice(8)."


def main(argv: Sequence[str] | None = None) -> None:
    """Run C{tservice} and exit with its status."""
    terminal = Terminal(
        environ=os.environ,
        home=Path.home(),
        out=sys.stdout,
        error=sys.stderr,
        run=run_program,
        replace=stream_program,
    )
    raise SystemExit(run_command_line(sys.argv[1:] if argv is None else argv, terminal))


def run_command_line(argv: Sequence[str], terminal: Terminal) -> int:
    """Run one command and return its exit status.

    @raise SystemExit: the command line is invalid, or requests only help.
    """
    words, rest = build_parser().parse_known_args(argv)
    if rest and not words.takes_settings:
        build_parser().error(f"unrecognized arguments: {' '.join(rest)}")
    try:
        return _run_command(words, rest, terminal)
    except StartError as error:
        print(error, file=terminal.error)  # its text begins with the program's name
        return FAILED
    except (CommandError, OSError) as error:
        print(f"tservice: {error}", file=terminal.error)
        return FAILED
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    top = OneLineErrorParser(
        prog="tservice",
        description="Start tservice, keep it running, update it and back it up.",
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"tservice {__version__}")
    commands = top.add_subparsers(metavar="COMMAND", required=True)

    def add(
        parent: argparse._SubParsersAction[OneLineErrorParser],
        name: str,
        text: str,
        *,
        settings: bool = False,
    ) -> argparse.ArgumentParser:
        made = parent.add_parser(
            name,
            help=text,
            description=f"{text[0].upper()}{text[1:]}.",
            allow_abbrev=False,
            epilog=SETTINGS if settings else None,
        )
        made.set_defaults(command=made.prog.removeprefix("tservice "), takes_settings=settings)
        return made

    up = add(commands, "up", "run the service in the foreground", settings=True)
    up.add_argument("--open", action="store_true", help="open the page in the browser")
    group = commands.add_parser("service", help="run it in the background, as a unit of systemd")
    inner = group.add_subparsers(metavar="COMMAND", required=True)
    add(inner, "install", "install the unit and start it", settings=True)
    add(inner, "uninstall", "stop the service and remove the unit")
    for action in ("start", "stop", "restart"):
        add(inner, action, f"{action} the service; sessions go on")
    _add_data_dir(add(inner, "status", "show whether it runs, and its addresses"))
    logs = add(inner, "logs", "show the end of the log")
    logs.add_argument("-f", "--follow", action="store_true", help="go on until Ctrl-C")
    logs.add_argument("-n", "--lines", type=int, default=50, help="number of lines (default 50)")
    update = add(commands, "update", "upgrade the program and restart it; sessions go on")
    update.add_argument("source", nargs="?", metavar="FILE", help="wheel or archive to install")
    update.add_argument("--check", action="store_true", help="only ask whether there is an update")
    doctor = add(commands, "doctor", "check that this machine has what the service needs")
    _add_data_dir(doctor)
    doctor.add_argument(
        "--record", metavar="CLI", help="run an agent CLI here and write its screens to a file"
    )
    doctor.add_argument("--output", type=Path, metavar="FILE", help="file of --record")
    backup = add(commands, "backup", "write settings, database and keys to a file")
    backup.add_argument("file", type=Path)
    _add_data_dir(backup)
    restore = add(commands, "restore", "put a backup in the place of the data folder")
    restore.add_argument("file", type=Path)
    _add_data_dir(restore)
    add(commands, "version", "print the version and how it was installed")
    completion = add(commands, "completion", "print a completion script")
    completion.add_argument("shell", choices=("bash", "zsh", "fish"))
    return top  # fmt: skip


def _add_data_dir(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data-dir", type=Path, metavar="FOLDER", help="data folder of the service"
    )


def _run_command(words: argparse.Namespace, rest: Sequence[str], terminal: Terminal) -> int:
    """Import what the command needs and run it; the start of most commands stays short."""
    command: str = words.command
    if command == "up":
        from tservice.console.up import run_up

        return run_up(rest, words.open, terminal)
    if command.startswith("service "):
        return _run_service_command(command.removeprefix("service "), words, rest, terminal)
    if command == "update":
        from tservice.console.update import check_for_update, update_program

        return check_for_update(terminal) if words.check else update_program(words.source, terminal)
    if command in ("backup", "restore"):
        from tservice.console.backup import create_backup, restore_backup

        folder = _find_data_dir(words, terminal)
        if command == "backup":
            return create_backup(folder, words.file, terminal)
        return restore_backup(words.file, folder, terminal)
    if command == "doctor":
        folder = _find_data_dir(words, terminal)
        if words.record is not None:
            from tservice.console.screen_recorder import record_screens

            return record_screens(words.record, folder, words.output, terminal)
        from tservice.doctor.interfaces import report_host

        return report_host(None, folder, terminal.environ, terminal.home, terminal.out)
    if command == "completion":
        from tservice.console.completion import build_completion_script

        terminal.print_line(build_completion_script(words.shell, build_parser()).rstrip("\n"))
        return 0
    return _print_version(terminal)


def _run_service_command(
    action: str, words: argparse.Namespace, rest: Sequence[str], terminal: Terminal
) -> int:
    from tservice.console import unit

    if action == "install":
        return unit.install_unit(rest, terminal)
    if action == "uninstall":
        return unit.uninstall_unit(terminal)
    if action == "status":
        return unit.show_status(_find_data_dir(words, terminal), terminal)
    if action == "logs":
        return unit.show_logs(words.follow, words.lines, terminal)
    return unit.control_unit(action, terminal)


def _find_data_dir(words: argparse.Namespace, terminal: Terminal) -> Path:
    """Return the data folder, from the option, the environment or the default."""
    given = words.data_dir or terminal.environ.get("SERVICE_DATA_DIR")
    return Path(given).expanduser() if given else terminal.home / ".tservice"


def _print_version(terminal: Terminal) -> int:
    from tservice.console.update import find_install_kind

    package = Path(__file__).parents[1]
    kind = find_install_kind(Path(sys.prefix), Path(sys.base_prefix), package)
    terminal.print_line(f"tservice {__version__} ({kind.value}, {sys.prefix})")
    return 0


if __name__ == "__main__":
    main()
