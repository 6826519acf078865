"""C{tsctl}: what an operator or a script does from a shell; see tsctl(1)."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from attrs import frozen
from OpenSSL import SSL
from service_identity import VerificationError
from twisted.internet.defer import Deferred
from twisted.internet.task import react

from tservice import __version__
from tservice.client.api import Client
from tservice.client.auditing import CannotLook, verify_log
from tservice.client.tls import CERTIFICATE, KEY, LONGEST_DAYS, make_certificate
from tservice.core.files import FileError, read_text
from tservice.doctor.interfaces import CATEGORIES, look

BROKEN, FAILED = 1, 2
"""Exit statuses: the audit log is not in order; it could not be done."""


@frozen(kw_only=True)
class Shell:
    """Where C{tsctl} was started."""

    environ: Mapping[str, str]
    home: Path
    now: float
    out: TextIO
    error: TextIO


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog="tsctl", description="Control tservice from a shell.")
    top.add_argument("--version", action="version", version=f"tsctl {__version__}")
    commands = top.add_subparsers(dest="command", required=True)
    audit = commands.add_parser("audit", help="the audit log").add_subparsers(
        dest="audit", required=True
    )
    check = audit.add_parser("verify", help="find every change that was made to it")
    check.add_argument("--data-dir", type=Path, help="data folder of the service")
    tls = commands.add_parser("tls", help="make a key and a self-signed certificate")
    tls.add_argument("names", nargs="+", help="host names and addresses it is for")
    tls.add_argument("--out", type=Path, default=Path(), help="folder to write to")
    tls.add_argument("--days", type=int, default=397, help="how long it holds")
    doctor = commands.add_parser("doctor", help="which programs are missing or too old")
    doctor.add_argument("category", nargs="?", choices=CATEGORIES, help="only these")
    doctor.add_argument("--data-dir", type=Path, help="data folder of the service")
    call = commands.add_parser("call", help="one request to the API")
    call.add_argument("method", help="GET, POST, PUT, PATCH or DELETE")
    call.add_argument("path", help="from /api/v1 on: /sessions")
    call.add_argument("body", nargs="?", help="JSON; - reads it from stdin")
    return top


def data_folder(words: argparse.Namespace, shell: Shell) -> Path:
    """The service's data folder: as said, else as the environment says, else the usual one."""
    given = words.data_dir or shell.environ.get("SERVICE_DATA_DIR")
    return Path(given).expanduser() if given else shell.home / ".tservice"


def verify_command(words: argparse.Namespace, shell: Shell) -> int:
    """C{tsctl audit verify}."""
    try:
        found = verify_log(data_folder(words, shell))
    except CannotLook as error:
        print(f"tsctl: {error}", file=shell.error)
        return FAILED
    if found.fault is not None:
        print(f"BROKEN after {found.rows} rows in order: {found.fault}", file=shell.out)
        return BROKEN
    print(f"{found.rows} rows, all in order", file=shell.out)
    return 0


def tls_command(words: argparse.Namespace, shell: Shell) -> int:
    """C{tsctl tls}."""
    if not 1 <= words.days <= LONGEST_DAYS:
        print(f"tsctl: --days must be 1 to {LONGEST_DAYS}", file=shell.error)
        return FAILED
    try:
        shown = make_certificate(words.out, words.names, words.days, shell.now)
    except (OSError, FileError, ValueError) as error:
        print(f"tsctl: {error}", file=shell.error)
        return FAILED
    folder = words.out.absolute()
    key, certificate = folder / KEY, folder / CERTIFICATE
    print(f"--listen=ssl:8443:privateKey={key}:certKey={certificate}", file=shell.out)
    print(f"SHA-256 {shown}", file=shell.out)
    return 0


async def call_command(words: argparse.Namespace, shell: Shell, client: Client) -> int:
    """C{tsctl call}."""
    text = sys.stdin.read() if words.body == "-" else words.body
    try:
        body = None if text is None else json.loads(text)
    except ValueError as error:
        print(f"tsctl: the body is no JSON: {error}", file=shell.error)
        return FAILED
    try:
        found = await client.call(words.method.upper(), words.path, body)
    except Exception as error:
        print(f"tsctl: {explained(error)}", file=shell.error)
        return FAILED
    print(json.dumps(found, indent=2, ensure_ascii=False), file=shell.out)
    return 0


def explained(error: Exception) -> str:
    """What kept a request from its answer, in one line.

    Of a connection that broke, the client tells a list of C{Failure}s; others tell themselves.
    """
    causes = [failure.value for failure in getattr(error, "reasons", ())] or [error]
    for cause in causes:
        if isinstance(cause, VerificationError):
            return "the service's certificate is not for the name in TSCTL_URL"
        if isinstance(cause, SSL.Error) and "certificate verify failed" in str(cause):
            return (
                "the service's certificate is not trusted: set SSL_CERT_FILE to a copy of it,"
                f" such as the {CERTIFICATE} of tsctl tls"
            )
    return "; ".join(str(cause) or type(cause).__name__ for cause in causes)


def client_of(environ: Mapping[str, str]) -> Client:
    """The client that the environment asks for: secrets are no options, which all users see.

    @raise OSError: the token's file cannot be read; also L{FileError}.
    """
    token = environ.get("TSCTL_TOKEN")
    if "TSCTL_TOKEN_FILE" in environ:
        token = read_text(Path(environ["TSCTL_TOKEN_FILE"]), private=True).strip()
    url = environ.get("TSCTL_URL") or environ.get("SERVICE_API_URL") or "http://127.0.0.1:8770"
    password = environ.get("TSCTL_PASSWORD")
    login = None
    if token is None and password is not None:
        login = (environ.get("TSCTL_USER", "admin"), password)
    return Client(url, token=token, login=login)


def main(argv: Sequence[str] | None = None) -> None:
    """The program."""
    words = parser().parse_args(argv)
    react(_run, [words])


def _run(reactor: Any, words: argparse.Namespace) -> Deferred[None]:
    shell = Shell(
        environ=os.environ,
        home=Path.home(),
        now=reactor.seconds(),
        out=sys.stdout,
        error=sys.stderr,
    )

    async def run() -> None:
        raise SystemExit(await _status(words, shell))

    return Deferred.fromCoroutine(run())


async def _status(words: argparse.Namespace, shell: Shell) -> int:
    if words.command == "audit":
        return verify_command(words, shell)
    if words.command == "tls":
        return tls_command(words, shell)
    if words.command == "doctor":
        folder = data_folder(words, shell)
        return look(words.category, folder, shell.environ, shell.home, shell.out)
    try:
        client = client_of(shell.environ)
    except (OSError, FileError) as error:
        print(f"tsctl: {error}", file=shell.error)
        return FAILED
    return await call_command(words, shell, client)
