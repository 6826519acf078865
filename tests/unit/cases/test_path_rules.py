"""Tests for L{tservice.cases.path_rules}: every refusal there is, and what is allowed."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tservice.cases.path_rules import (
    CREDENTIALS,
    SYSTEM,
    FolderBounds,
    check_path,
    normalize_path,
    resolve_bounds,
)
from tservice.core.kernel.errors import ErrorCode, ServiceError

HOME, DATA, CASES = "/home/ann", "/home/ann/.tservice", "/home/ann/service-cases"
PLACES = FolderBounds(
    homes=(PurePosixPath(HOME), PurePosixPath("/opt/service")),
    data_dir=PurePosixPath(DATA),
    cases=(PurePosixPath(CASES), PurePosixPath("/srv/cases")),
)

ODD = (
    "", "relative", "./x", "~other/x", "a/../b", "/a/../b", "/a/..", "~/../x", "/a\0b", "/a\nb",
    "/a\x1bb", "/a\x7fb", "/a\x9bb", "/a\u2028b", "/a\ud800b", "/" + "x" * 4096, "file:///srv/x",
)  # fmt: skip
"""No path at all, before it is asked what is there."""

REFUSED = (
    "/", "//", "/.", "/./",
    *(f"/{name}" for name in SYSTEM), *(f"/{name}/x/y" for name in SYSTEM),
    *(f"/lib{more}/x" for more in ("", "32", "64", "x32", "exec")), "//etc", "/./etc/x", "///usr//",
    "~", "~/", HOME, f"{HOME}/", "/home", "/opt/service", "/opt",
    *(f"~/{name}" for name in CREDENTIALS), *(f"~/{name}/x" for name in CREDENTIALS),
    *(f"/opt/service/{name}/x" for name in CREDENTIALS),
    DATA, f"{DATA}/x", f"{DATA}//x/.", CASES, f"{CASES}/x", f"{CASES}/x/y", "/srv/cases/bob/x",
)  # fmt: skip
"""Folders that no case is made in."""

ALLOWED = {
    "/srv/x": "/srv/x",
    "/tmp/x": "/tmp/x",
    "/home/ann/x": "/home/ann/x",
    "/home/bob/x": "/home/bob/x",
    "~/x": "/home/ann/x",
    "~//x/./y/": "/home/ann/x/y",
    "//srv///x/": "/srv/x",
    "/srv/..x": "/srv/..x",
    "/srv/a b": "/srv/a b",
    "~/.sshx": "/home/ann/.sshx",
    "~/x/.ssh": "/home/ann/x/.ssh",
    "/srv/casesx": "/srv/casesx",
    "/srv/etc": "/srv/etc",
    "/data": "/data",
    "/srv/\u00fc": "/srv/\u00fc",
}


class CasePathTests(SynchronousTestCase):
    def judge(self, text: str) -> str:
        path = normalize_path(text, PLACES)
        check_path(path, PLACES)
        return path

    def test_odd_and_reserved_paths_are_refused(self) -> None:
        for text in (*ODD, *REFUSED):
            error = self.assertRaises(ServiceError, self.judge, text)
            self.assertIs(ErrorCode.INVALID_INPUT, error.code, text)
            self.assertTrue(error.message.startswith("path: "), error.message)

    def test_ordinary_paths_are_normalized(self) -> None:
        for text, path in ALLOWED.items():
            self.assertEqual(path, self.judge(text))

    @given(st.text(max_size=50))
    def test_accepted_path_is_plain(self, text: str) -> None:
        try:
            path = self.judge(text)
        except ServiceError:
            return
        parts = path.split("/")
        self.assertEqual("", parts[0])
        self.assertNotIn("..", parts)
        self.assertEqual(parts[1:], [part for part in parts[1:] if part not in ("", ".")])
        self.assertFalse(PurePosixPath(path).is_relative_to(CASES))

    def test_linked_locations_are_refused_by_both_names(self) -> None:
        folder = Path(self.mktemp()).absolute()
        (folder / "real").mkdir(parents=True)
        (folder / "link").symlink_to("real")
        bounds = FolderBounds(
            homes=(PurePosixPath("/nobody"),),
            data_dir=PurePosixPath("/nowhere"),
            cases=(PurePosixPath(folder / "link"),),
        )
        for name in ("link", "real"):
            inside = str(folder / name / "x")
            self.assertRaises(ServiceError, check_path, inside, resolve_bounds(bounds))
