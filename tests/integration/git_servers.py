"""Servers of git repositories on loopback: C{run_git http-backend} behind a password, C{run_git
daemon}.
"""

from __future__ import annotations

import base64
import os
import socket
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.held_port import HeldPort
from tests.waiting import wait_until

GIT_ENV = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


def run_git(folder: Path, *words: str, **more: str) -> str:
    """What git prints, run in a folder as nobody in particular."""
    ended = subprocess.run(
        ["git", "-C", str(folder), *words],
        capture_output=True,
        text=True,
        env={**GIT_ENV, **more},
        check=False,
    )
    if ended.returncode:
        raise AssertionError(f"git {words}: {ended.stderr}")
    return ended.stdout


def commit_files(folder: Path, **files: str) -> None:
    """Put files into a repository, one commit."""
    for name, text in files.items():
        (folder / name).write_text(text)
    run_git(folder, "add", "-A")
    run_git(folder, "commit", "-q", "--allow-empty", "-m", "m")


def make_repository(folder: Path, **files: str) -> Path:
    """A new repository with one commit on C{main}."""
    folder.mkdir(parents=True)
    run_git(folder, "init", "-q", "-b", "main")
    commit_files(folder, **(files or {"file": "content\n"}))
    return folder


class RecordingServer:
    """HTTP server on loopback that keeps the headers that it was shown.

    @cvar HEADER: the header to keep.
    @ivar asked: its values, C{None} for a request without one.
    """

    HEADER = "Authorization"

    def __init__(self) -> None:
        self.asked: list[str | None] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                shown = self.headers.get(server.HEADER)
                server.asked.append(shown)
                server.serve(self, shown)

            do_POST = do_CONNECT = do_GET

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing is printed."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.host = f"127.0.0.1:{self._server.server_address[1]}"

    def serve(self, handler: BaseHTTPRequestHandler, shown: str | None) -> None:
        """Answer one request."""
        raise NotImplementedError

    def close(self) -> None:
        """End it."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def answer_empty(handler: BaseHTTPRequestHandler, status: int, **headers: str) -> None:
    """Answer without a body; C{_} in the name of a header stands for C{-}."""
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", "0")
    handler.end_headers()


class RepositoryRedirector(RecordingServer):
    """Sends every request on to another server of repositories."""

    def __init__(self, target: str, *, protected: bool = False) -> None:
        """@param protected: a request without a password is asked for one, not sent on."""
        self._target, self._protected = target, protected
        super().__init__()

    def serve(self, handler: BaseHTTPRequestHandler, shown: str | None) -> None:
        """Ask for a password, or send it on."""
        if self._protected and shown is None:
            answer_empty(handler, 401, WWW_Authenticate='Basic realm="git"')
        else:
            answer_empty(handler, 302, Location=f"http://{self._target}{handler.path}")


class PasswordProxy(RecordingServer):
    """A proxy that lets nobody through without a password, and nobody with one."""

    HEADER = "Proxy-Authorization"

    def serve(self, handler: BaseHTTPRequestHandler, shown: str | None) -> None:
        """Ask for a password."""
        answer_empty(handler, 407, Proxy_Authenticate='Basic realm="proxy"')


class HttpBackend(RecordingServer):
    """Serves the repositories below a folder to who knows the password."""

    USER, PASSWORD = "ann", "s3cret/word"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        super().__init__()

    def serve(self, handler: BaseHTTPRequestHandler, shown: str | None) -> None:
        """One request, by CGI."""
        word = base64.b64encode(f"{self.USER}:{self.PASSWORD}".encode()).decode()
        if shown != f"Basic {word}":
            answer_empty(handler, 401, WWW_Authenticate='Basic realm="git"')
            return
        path, _, query = handler.path.partition("?")
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        ended = subprocess.run(
            ["git", "http-backend"],
            input=body,
            capture_output=True,
            check=False,
            env={
                **GIT_ENV,
                "GIT_PROJECT_ROOT": str(self._folder),
                "GIT_HTTP_EXPORT_ALL": "1",
                "REQUEST_METHOD": handler.command,
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "CONTENT_TYPE": handler.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": str(len(body)),
                "HTTP_CONTENT_ENCODING": handler.headers.get("Content-Encoding", ""),
                "GIT_PROTOCOL": handler.headers.get("Git-Protocol", ""),
                "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": "safe.directory",
                "GIT_CONFIG_VALUE_0": "*",
            },
        )
        head, _, content = ended.stdout.partition(b"\r\n\r\n")
        lines = [line.partition(": ") for line in head.decode().split("\r\n") if line]
        status = next((value for name, _, value in lines if name == "Status"), "200 OK")
        handler.send_response(int(status.split()[0]))
        for name, _, value in lines:
            if name != "Status":
                handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)


class GitDaemon:
    """C{run_git daemon} on a port of its own."""

    def __init__(self, folder: Path) -> None:
        self._held = HeldPort()
        self.port = self._held.number
        self._process = subprocess.Popen(
            ["git", "daemon", "--export-all", "--reuseaddr", "--listen=127.0.0.1",
             f"--port={self.port}", f"--base-path={folder}", str(folder)],
            env=GIT_ENV,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        wait_until("the git daemon listens", self._listens)

    def close(self) -> None:
        """End it, and what serves for it."""
        os.killpg(self._process.pid, 15)
        self._process.wait()
        self._held.close()

    def _listens(self) -> bool:
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self.port)) == 0
