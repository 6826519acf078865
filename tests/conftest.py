"""Fixtures for every test, and what is printed after the last."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from xdist.workermanage import NodeManager

from tests import evidence, run_figures
from tests.examples import IS_LONG
from tests.run_folder import RunLeftovers, make_run_folder, remove_run_folder
from tests.run_order import order_tests
from tests.waiting import PATIENCE
from tools.generated import write_generated_code

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

# A worker ends browsers and engines that its tests shared.  By default it is killed 10 seconds
# after its last test, and what it has not ended by then runs on.
NodeManager.EXIT_TIMEOUT = 2 * PATIENCE


_RUN_FOLDER = pytest.StashKey[Path]()
_LEFTOVERS = pytest.StashKey[RunLeftovers]()


def pytest_configure(config: pytest.Config) -> None:
    """Choose this run's folders, and bring generated code up to date, for all its processes."""
    if not hasattr(config, "workerinput"):
        write_generated_code()
        config.stash[_RUN_FOLDER] = make_run_folder()
        evidence.begin_run()


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None]:
    """Fail a run that leaves processes or mounts behind."""
    yield
    folder = session.config.stash.get(_RUN_FOLDER, None)
    if folder is None:
        return
    if not session.config.getoption("numprocesses", None):
        # Helpers of this process end when it does.
        atexit.register(remove_run_folder, folder)
        return
    left = remove_run_folder(folder)
    session.config.stash[_LEFTOVERS] = left
    if left and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays to the end: to look for garbage among it takes a fifth more.

    Tests allocate much that stays for a moment, so that the usual thresholds of the collector take
    two fifths of the processor time of the unit tests.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000, 20, 100)
        gc.enable()


_TESTS = Path(__file__).parent
EXTENDED_FOLDERS = tuple(
    f"{_TESTS / folder}/"
    for folder in (
        *("agents", "browser"),
        *("integration/containers", "integration/install", "integration/osusers"),
    )
)
"""Folders whose tests run in C{make test-all} only, but for those that are marked C{essential}."""


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what C{make test} leaves to C{make test-all}, before tests are chosen by their marks."""
    path = str(item.path)
    if path.startswith(EXTENDED_FOLDERS) and item.get_closest_marker("essential") is None:
        item.add_marker("extended")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what takes long."""
    hands = getattr(config, "workerinput", {"workercount": 1})["workercount"]
    items[:] = order_tests(
        items,
        hands,
        lambda item: item.nodeid.rpartition("::")[0],
        _get_minutes,
    )


def _get_minutes(item: pytest.Item) -> float | None:
    mark = item.get_closest_marker("long")
    return None if mark is None else float(mark.kwargs.get("minutes", 0))


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """C{self.mktemp()} writes below the current folder, so that must not be the checkout."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def _evidence(request: pytest.FixtureRequest) -> None:
    """A test that fails leaves logs, screens and pictures."""
    evidence.begin_test(request.node)
    if request.instance is not None:
        evidence.watch_case(request.instance)


@pytest.fixture(autouse=True)
def _figures(request: pytest.FixtureRequest) -> Iterator[None]:
    """Reports carry what a test told from the process that ran it to the one that prints."""
    yield
    request.node.user_properties += run_figures.take_figures()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Generator[None]:
    """Print what tests measured and, last of all, what the run left behind."""
    _print_figures(terminalreporter)
    yield
    if left := terminalreporter.config.stash.get(_LEFTOVERS, None):
        terminalreporter.section("left behind by the tests", red=True)
        terminalreporter.line(str(left))


def _print_figures(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [report for found in terminalreporter.stats.values() for report in found]
    told = {
        (report.nodeid, str(text)): None
        for report in reports
        for key, text in getattr(report, "user_properties", ())
        if key == run_figures.KEY
    }
    if told:
        terminalreporter.section("figures")
    for nodeid, text in told:
        terminalreporter.line(f"{nodeid.rpartition('::')[2]}: {text}")
