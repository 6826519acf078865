"""C{tservice service}: the service as a systemd unit of the user, which needs no root.

The unit belongs to the person who calls, so that agents have that person's logins, SSH keys and
repositories.
"""

from __future__ import annotations

import getpass
import sys
from collections.abc import Sequence
from pathlib import Path

from tservice.console.running import read_addresses
from tservice.console.terminal import CommandError, Terminal
from tservice.core.disk.files import replace_atomically
from tservice.core.net.endpoints import parse_listen
from tservice.tap.options import Options

UNIT = "tservice.service"
NO_SYSTEMD = (
    "systemd has no user manager here: start it with 'tservice up', or as a system service with"
    " the unit or the init script in share/tservice (docs/howto/boot.rst)"
)

_TEMPLATE = """\
# Written by: tservice service install
[Unit]
Description=Terminal agent session service
Documentation=man:tservice(1)
After=network-online.target

[Service]
Type=exec
ExecStart={command}
Environment={path}
WorkingDirectory=%h
Restart=on-failure
RestartSec=2
# Sessions are processes of this unit, and go on while the service is stopped or restarted.
KillMode=process
OOMPolicy=continue
TimeoutStopSec=40
LimitNOFILE=65536

[Install]
WantedBy=default.target
"""


def install_unit(words: Sequence[str], terminal: Terminal) -> int:
    """Write the unit, start it, and start it at each login from now on.

    @param words: the settings of the service, as for C{twistd tservice}.
    @raise StartError: a setting is invalid.
    @raise CommandError: systemd is missing, or refuses the unit.
    """
    _require_systemd(terminal)
    options = Options(terminal.environ, terminal.home)
    options.parseOptions(list(words))
    parse_listen(options.loaded.config)
    path = get_unit_path(terminal)
    text = format_unit(_twistd_path(), words, terminal.environ.get("PATH", ""))
    try:
        write_unit(path, text)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from None
    _run_systemctl(terminal, "daemon-reload")
    _run_systemctl(terminal, "enable", UNIT)
    _run_systemctl(terminal, "restart", UNIT)
    terminal.print_line(f"installed {path} and started it; see 'tservice service status'")
    if not _lingers(terminal):
        terminal.print_line(
            "It stops when you log out of this machine. To keep it running from boot on:"
            " loginctl enable-linger"
        )
    return 0


def uninstall_unit(terminal: Terminal) -> int:
    """Stop the service and remove its unit. Its sessions and data stay.

    @raise CommandError: there is no unit.
    """
    _require_unit(terminal)
    path = get_unit_path(terminal)
    _run_systemctl(terminal, "disable", "--now", UNIT)
    path.unlink()
    _run_systemctl(terminal, "daemon-reload")
    terminal.print_line(f"removed {path}; sessions run on, and the data stays where it is")
    return 0


def control_unit(action: str, terminal: Terminal) -> int:
    """Start, stop or restart the service.

    @param action: C{start}, C{stop} or C{restart}.
    @raise CommandError: there is no unit, or systemd reports a failure.
    """
    _require_unit(terminal)
    _run_systemctl(terminal, action, UNIT)
    return 0


def show_status(data_dir: Path, terminal: Terminal) -> int:
    """Print what systemd knows about the service, and its addresses.

    @return: the status of C{systemctl status}: 0 if the service runs, 3 if it is stopped.
    """
    _require_unit(terminal)
    status = terminal.replace(["systemctl", "--user", "--no-pager", "status", UNIT])
    for url in read_addresses(data_dir):
        terminal.print_line(f"page: {url}")
    return status


def show_logs(follow: bool, lines: int, terminal: Terminal) -> int:
    """Print the end of the service's log.

    @param follow: true to go on until the user stops it.
    @param lines: number of lines from the end.
    """
    _require_unit(terminal)
    argv = ["journalctl", "--user", "--unit", UNIT, "--lines", str(lines)]
    return terminal.replace([*argv, "--follow"] if follow else [*argv, "--no-pager"])


def restart_if_installed(terminal: Terminal) -> bool:
    """Restart the service if it runs as a unit, and return true if it was restarted."""
    if not get_unit_path(terminal).exists():
        return False
    if terminal.run(["systemctl", "--user", "is-active", "--quiet", UNIT]).returncode != 0:
        return False
    _run_systemctl(terminal, "restart", UNIT)
    return True


def format_unit(twistd: str, words: Sequence[str], path: str) -> str:
    """Return the text of the unit.

    @param twistd: path of the program C{twistd} of this installation.
    @param words: the settings of the service.
    @param path: value of C{PATH} in which agents are looked for.
    @raise CommandError: a value cannot be written into a unit.
    """
    argv = [twistd, "--nodaemon", "--pidfile=", "--umask=022", "tservice", *words]
    return _TEMPLATE.format(
        command=" ".join(_quote_word(word) for word in argv), path=_quote_word(f"PATH={path}")
    )


def write_unit(path: Path, text: str) -> None:
    """Replace the unit file, and create its folder if it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replace_atomically(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
        temporary.chmod(0o644)


def get_unit_path(terminal: Terminal) -> Path:
    """Return the path of the user's unit file."""
    base = terminal.environ.get("XDG_CONFIG_HOME") or str(terminal.home / ".config")
    return Path(base) / "systemd/user" / UNIT


def _quote_word(word: str) -> str:
    """Quote a word for a unit file, where C{%} and C{$} have a meaning (systemd.service(5))."""
    if any(ord(letter) < 32 for letter in word):
        raise CommandError(f"{word!r} contains a control character")
    quoted = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return '"' + quoted.replace("$", "$$") + '"'


def _twistd_path() -> str:
    return str(Path(sys.executable).with_name("twistd"))


def _require_systemd(terminal: Terminal) -> None:
    if terminal.run(["systemctl", "--user", "show-environment"]).returncode != 0:
        raise CommandError(NO_SYSTEMD)


def _require_unit(terminal: Terminal) -> None:
    _require_systemd(terminal)
    if not get_unit_path(terminal).exists():
        raise CommandError("the service is not installed: run 'tservice service install'")


def _run_systemctl(terminal: Terminal, *words: str) -> None:
    done = terminal.run(["systemctl", "--user", *words])
    if done.returncode != 0:
        reason = (done.stderr or done.stdout).strip().splitlines() or [f"status {done.returncode}"]
        raise CommandError(f"systemctl --user {' '.join(words)}: {reason[0]}")


def _lingers(terminal: Terminal) -> bool:
    user = terminal.environ.get("USER") or getpass.getuser()
    found = terminal.run(["loginctl", "show-user", user, "--property=Linger", "--value"])
    return found.stdout.strip() == "yes"
