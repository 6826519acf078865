"""Fixtures for every test, and what is printed after the last."""

from __future__ import annotations

import gc
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import figures
from tests.dealing import dealt
from tests.examples import IS_LONG

# How long an example takes is the machine's business, which may be busy with other tests.  The
# short form always tries the same examples: what it finds is of the change that it is run for.
settings.register_profile(
    "busy",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=not IS_LONG,
    print_blob=True,
    database=None,
)
settings.load_profile("busy")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays to the end: to look for garbage among it takes a fifth more."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what takes long."""
    hands = getattr(config, "workerinput", {"workercount": 1})["workercount"]
    items[:] = dealt(
        items,
        hands,
        lambda item: item.nodeid.rpartition("::")[0],
        lambda item: item.get_closest_marker("long") is not None,
    )


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """C{self.mktemp()} writes below the current folder, so that must not be the checkout."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def _figures(request: pytest.FixtureRequest) -> Iterator[None]:
    """Reports carry what a test told from the process that ran it to the one that prints."""
    yield
    request.node.user_properties += figures.take()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests measured."""
    reports = [report for found in terminalreporter.stats.values() for report in found]
    told = {
        (report.nodeid, str(text)): None
        for report in reports
        for key, text in getattr(report, "user_properties", ())
        if key == figures.KEY
    }
    if told:
        terminalreporter.section("figures")
    for nodeid, text in told:
        terminalreporter.line(f"{nodeid.rpartition('::')[2]}: {text}")
