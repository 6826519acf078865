"""Install agent CLIs from the npm registry into a cache that outlives the tests.

Default C{~/.cache/tservice-agents}, elsewhere with C{TSERVICE_TEST_CACHE}.
Each CLI has a folder of its own, and a lock so that parallel test processes
install it once.  C{TSERVICE_REQUIRE_CLIS=claude,codex} turns "could not be
installed" into a failure for those; for others the test reports the reason as
its skip message.

As a program, prints what it could install::

    python -m tests.agents.cli_cache [name ...]
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from attrs import evolve, frozen


@frozen(kw_only=True)
class CachedCli:
    """One installable client.

    @ivar minimum: the version whose screens the tests know, and that is installed; a newer one that
        stands in the cache already is taken, too.
    @ivar timeout: seconds that its installation may take.
    @ivar program: its executable, where that is not named like the client.
    @ivar beside: further packages in its folder: the Node.js that it needs.
    """

    name: str
    package: str
    minimum: str
    timeout: float = 180.0
    program: str | None = None
    beside: tuple[str, ...] = ()


CLIS: Mapping[str, CachedCli] = {
    cli.name: cli
    for cli in (
        CachedCli(name="claude", package="@anthropic-ai/claude-code", minimum="2.1.197"),
        CachedCli(name="codex", package="@openai/codex", minimum="0.169.0"),
        CachedCli(name="gemini", package="@google/gemini-cli", minimum="0.61.0"),
        CachedCli(name="opencode", package="opencode-ai", minimum="1.18.33"),
        CachedCli(
            name="pi",
            package="@earendil-works/pi-coding-agent",
            minimum="1.6.0",
            beside=("node@22.23.3",),
        ),
        CachedCli(name="copilot", package="@github/copilot", minimum="1.0.102", timeout=400.0),
        CachedCli(name="qwen", package="@qwen-code/qwen-code", minimum="0.24.4"),
        CachedCli(name="cline", package="cline", minimum="3.0.65"),
        CachedCli(name="cn", package="@continuedev/cli", minimum="1.5.47"),
        CachedCli(name="amp", package="@sourcegraph/amp", minimum="0.0.1790142911-g7618fb"),
        CachedCli(name="auggie", package="@augmentcode/auggie", minimum="0.36.0"),
        CachedCli(
            name="pi-0.73",
            package="@mariozechner/pi-coding-agent",
            minimum="0.73.1",
            program="pi",
        ),
    )
}


_FOLDERS = {"pi": "pi-earendil", "pi-0.73": "pi"}
"""Folders that are not named like their client: a cache of before holds the older pi."""


@frozen(kw_only=True)
class CachedCliProgram:
    """A CLI that can be started: C{binary} by its whole path."""

    cli: CachedCli
    version: str
    binary: Path


LATEST = "latest"
"""What a registry calls its newest version; it is another one next week."""


class CliUnavailable(Exception):
    """A CLI cannot be installed or does not start; the message says why."""


def version_numbers(version: str) -> tuple[int, ...]:
    """The version's numbers, for comparing."""
    return tuple(int(part) for part in re.findall(r"\d+", version.split("-")[0]))


def cache_root(env: Mapping[str, str]) -> Path:
    """Where CLIs are kept."""
    chosen = env.get("TSERVICE_TEST_CACHE")
    return Path(chosen) if chosen else Path(env["HOME"]) / ".cache" / "tservice-agents"


@contextmanager
def _lock_folder(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _find_installed(cli: CachedCli, folder: Path) -> CachedCliProgram | None:
    """What is installed in the folder, or L{None} when too old or absent."""
    about = folder / "node_modules" / cli.package / "package.json"
    binary = folder / "node_modules" / ".bin" / (cli.program or cli.name)
    if not about.exists() or not binary.exists():
        return None
    version = str(json.loads(about.read_text("utf-8"))["version"])
    if version_numbers(version) < version_numbers(cli.minimum):
        return None
    return CachedCliProgram(cli=cli, version=version, binary=binary)


def _run_npm(cli: CachedCli, folder: Path, env: Mapping[str, str], wanted: str) -> None:
    npm = shutil.which("npm", path=env.get("PATH"))
    if npm is None:
        raise CliUnavailable(f"{cli.name}: no npm on the PATH")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "package.json").write_text("{}", "utf-8")
    options = ["--no-audit", "--no-fund", "--loglevel=error", "--prefix", str(folder)]
    child = subprocess.Popen(
        [npm, "install", *options, f"{cli.package}@{wanted}", *cli.beside],
        cwd=folder,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        text=True,
    )
    try:
        said, _ = child.communicate(timeout=cli.timeout)
    except subprocess.TimeoutExpired as late:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        raise CliUnavailable(f"{cli.name}: npm took over {cli.timeout:.0f} s") from late
    if child.returncode:
        last = " / ".join(said.strip().splitlines()[-3:])
        raise CliUnavailable(f"{cli.name}: npm ended with {child.returncode}: {last}")


def install_cli(name: str, env: Mapping[str, str]) -> CachedCliProgram:
    """The CLI, installed unless it was already.

    @param env: C{HOME} and C{PATH} for npm, and the variables above.
    @raise CliUnavailable: with the reason.
    """
    cli = CLIS[name]
    folder = cache_root(env) / _FOLDERS.get(name, name)
    with _lock_folder(folder.with_suffix(".lock")):
        found = _find_installed(cli, folder)
        if found is None:
            _run_npm(cli, folder, env, cli.minimum)
            found = _find_installed(cli, folder)
    if found is None:
        raise CliUnavailable(f"{name}: npm installed no {cli.package} of {cli.minimum} or newer")
    return found


def install_version(name: str, version: str, env: Mapping[str, str]) -> CachedCliProgram:
    """Exactly that version, or what C{latest} is, in a folder of its own.

    @raise CliUnavailable: with the reason.
    """
    cli = evolve(CLIS[name], minimum="0")
    folder = cache_root(env) / f"{name}@{version}"
    with _lock_folder(folder.with_suffix(".lock")):
        found = _find_installed(cli, folder)
        if found is None or version == LATEST:
            _run_npm(cli, folder, env, version)
            found = _find_installed(cli, folder)
    if found is None:
        raise CliUnavailable(f"{name}: npm installed no {cli.package} {version}")
    return found


def is_required(name: str, env: Mapping[str, str]) -> bool:
    """Whether this run must fail where the CLI is missing."""
    return name in env.get("TSERVICE_REQUIRE_CLIS", "").split(",")


def main(names: list[str]) -> int:
    """Install and report; the exit status counts the CLIs that are missing."""
    missing = 0
    for name in names or list(CLIS):
        began = time.monotonic()
        try:
            found = install_cli(name, os.environ)
        except CliUnavailable as why:
            missing += 1
            print(f"MISSING {why}")
            continue
        seconds = time.monotonic() - began
        print(f"{name} {found.version} {found.binary} ({seconds:.1f} s)")
    return missing


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
