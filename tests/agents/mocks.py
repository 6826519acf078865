"""Put a played agent where a program looks for the real one."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from attrs import asdict

from tests.agents.mock_tui.scenario import VARIABLE, MockScenario

ROOT = Path(__file__).resolve().parents[2]


def install_mock(folder: Path, family: str) -> Path:
    """Write an executable C{family} into the folder; its path.

    Put the folder first on the PATH, and L{scenario_env} into the environment.
    """
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / family
    program.write_text(
        f"#!{sys.executable}\n"
        "import sys\n"
        f"sys.path.insert(0, {str(ROOT)!r})\n"
        "from tests.agents.mock_tui.__main__ import main\n"
        f"sys.exit(main([{family!r}, *sys.argv[1:]]))\n",
        "utf-8",
    )
    program.chmod(0o755)
    return program


def scenario_env(path: Path, scenario: MockScenario) -> Mapping[str, str]:
    """Write the scenario down; the environment that names it."""
    path.write_text(json.dumps(asdict(scenario)), "utf-8")
    return {VARIABLE: str(path)}
