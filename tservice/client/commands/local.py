"""Commands that run without a service: C{doctor}, C{tls}, C{completion}."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from tservice.client.errors import Unusable
from tservice.client.shell import ShellContext


def find_data_folder(words: Namespace, shell: ShellContext) -> Path:
    """Return the service's data folder, from the option, the environment variable or the
    default.
    """
    given = words.data_dir or shell.environ.get("SERVICE_DATA_DIR")
    return Path(given).expanduser() if given else shell.home / ".tservice"


def doctor(words: Namespace, shell: ShellContext) -> int:
    """Check that this host has the programs that the service needs."""
    from tservice.doctor.interfaces import report_host

    folder = find_data_folder(words, shell)
    aside = shell.error if words.json else None
    return report_host(words.category, folder, shell.environ, shell.home, shell.out, aside)


def tls(words: Namespace, shell: ShellContext) -> int:
    """Create a key and a self-signed certificate."""
    from tservice.client.tls import CERTIFICATE, KEY, LONGEST_DAYS, make_certificate
    from tservice.core.disk.files import FileError

    days, out = int(words.days), Path(words.out)
    if not 1 <= days <= LONGEST_DAYS:
        raise Unusable(f"--days must be 1 to {LONGEST_DAYS}")
    try:
        shown = make_certificate(out, words.names, days, shell.now())
    except (OSError, FileError, ValueError) as error:
        raise Unusable(str(error)) from None
    folder = out.absolute()
    key, certificate = folder / KEY, folder / CERTIFICATE
    shell.print_line(f"--listen=ssl:8443:privateKey={key}:certKey={certificate}")
    shell.print_line(f"SHA-256 {shown}")
    return 0


def completion(words: Namespace, shell: ShellContext) -> int:
    """Print a completion script."""
    from tservice.client.commands.completing import build_completion_script

    shell.print_line(build_completion_script(words.shell).rstrip("\n"))
    return 0
