"""Every route, by everybody who must not come through: status, body, and no side effect.

The routes are those of the assembled service; what they are meant to let through stands in
C{rows.py}.  Each probe is a real request, with a body that would have an effect.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from attrs import evolve, frozen
from twisted.trial.unittest import SynchronousTestCase

from tests.non_empty import require_items
from tests.run_figures import report_figure
from tests.security.harness import CROSS, HOST, PASSWORD, SecurityAnswer, SecurityHarness
from tests.security.matrix_rows import JOB, PREFIXES, ROWS, SESSION, TAB, MatrixRow
from tests.unit.http.gate_harness import basic_headers
from tservice.core.kernel.scopes import Scope
from tservice.http.operations import ResponseStyle

SAFE = ("GET", "HEAD")


@frozen(kw_only=True)
class ProbeExpectation:
    """What must come back; C{None} leaves it open.

    @ivar text: the whole bare text.
    @ivar error: the C{errorCode} of an envelope.
    @ivar close: the close code of an accepted WebSocket.
    """

    status: int
    text: str | None = None
    error: str | None = None
    close: int | None = None


@frozen(kw_only=True)
class MatrixProbe:
    """One request, and its answer as it must be."""

    title: str
    want: ProbeExpectation
    headers: Mapping[str, str]
    address: str | None = None


UNKNOWN = ProbeExpectation(status=401, text="Unauthorized")


def refused(row: MatrixRow, code: str) -> ProbeExpectation:
    """A refusal by what the caller is, known by name."""
    if row.socket:
        return ProbeExpectation(status=101, close=4003)
    return ProbeExpectation(status=404 if code == "NOT_FOUND" else 403, error=code)


def foreign(row: MatrixRow, text: str) -> ProbeExpectation:
    """What a page of another origin, or by another name, is answered."""
    return (
        ProbeExpectation(status=101, close=4003)
        if row.closes_foreign
        else ProbeExpectation(status=403, text=text)
    )


class ProbeMatrix:
    """The probes of a route."""

    def __init__(self, world: SecurityHarness) -> None:
        self._world = world
        self._number = 0
        self._tokens_made: dict[tuple[str, ...], dict[str, str]] = {}
        self.revoked = world.sign_in("root")
        self.admin, self.owner = world.page("root"), world.page("ann")
        self.stolen = {"Cookie": self.admin["Cookie"]}
        self.program = {"Cookie": world.cookies["root"]}
        self.all_scopes = [scope.value for scope in Scope]

    def probes(self, method: str, row: MatrixRow) -> Iterator[MatrixProbe]:
        """Everybody who must not come through, and those who are let through in part."""
        yield MatrixProbe(
            title="rebinding host",
            want=foreign(row, HOST),
            headers={**self.admin, "Host": "evil.example"},
        )
        yield from self._origins(method, row)
        if row.access == "capability":
            yield from self._words(row)
        if row.access in ("public", "capability"):
            return
        yield from self._strangers(row)
        yield from self._people(row)
        yield from self._tokens(row)

    def _strangers(self, row: MatrixRow) -> Iterator[MatrixProbe]:
        self._number += 1
        # So that the cap of failures for one name is not reached.
        self._world.clock.advance(120)
        shown = {
            "no credentials": {},
            "wrong password": basic_headers(f"nobody{self._number}", "wrong"),
            "wrong password of an admin": basic_headers("root", "wrong"),
            "password of nobody": basic_headers(f"nobody{self._number}", PASSWORD),
            "revoked cookie": {"Cookie": self.revoked},
            "made-up cookie": {"Cookie": f"service_session={'0' * 64}"},
            "cookie without key": self.stolen,
            "cookie with another's key": {**self.owner, **self.stolen},
            "another's cookie with the key": {**self.admin, "Cookie": self.owner["Cookie"]},
            "key without cookie": {"X-Service-Key": self.admin["X-Service-Key"]},
            "program's cookie in a page": {**self.admin, **self.program},
            "program's cookie in a browser": {**self.program, "Sec-Fetch-Site": "none"},
            "wrong token": {"Authorization": f"Bearer tsk_{'x' * 43}"},
            "hook secret, from afar": {"X-Service-Hook-Secret": "0" * 64},
            "spoofed address": {"X-Forwarded-For": "127.0.0.1", "X-Real-IP": "127.0.0.1"},
            "spoofed user": {"X-User": "root", "Remote-User": "root", "X-Auth-User": "root"},
        }
        for title, headers in shown.items():
            yield MatrixProbe(title=title, want=UNKNOWN, headers=headers)
        text = "Unauthorized: hook secret required" if row.access == "hook" else "Unauthorized"
        yield MatrixProbe(
            title="hook secret wrong",
            want=ProbeExpectation(status=401, text=text),
            headers={"X-Service-Hook-Secret": "0" * 64},
            address="127.0.0.1",
        )

    def _words(self, row: MatrixRow) -> Iterator[MatrixProbe]:
        """Who one is does not count there, only the word in the path, which is a wrong one."""
        for title, headers in {
            "nobody": {},
            "an admin": self.admin,
            "an owner": self.owner,
        }.items():
            # So that the cap of wrong words is not reached.
            self._world.clock.advance(60)
            yield MatrixProbe(
                title=f"wrong word, {title}",
                want=ProbeExpectation(status=row.foreign or 401),
                headers=headers,
            )

    def _people(self, row: MatrixRow) -> Iterator[MatrixProbe]:
        yield MatrixProbe(
            title="must change the password",
            want=refused(row, "PASSWORD_CHANGE_REQUIRED"),
            headers={"Cookie": self._world.cookies["flag"]},
        )
        bob = {"Cookie": self._world.cookies["bob"]}
        if row.access == "admin":
            yield MatrixProbe(title="no admin", want=refused(row, "FORBIDDEN"), headers=bob)
        elif row.access == "owner" or row.foreign == 404:
            want = ProbeExpectation(status=404, error="NOT_FOUND")
            yield MatrixProbe(title="another user", want=want, headers=bob)
        elif row.foreign == 4003:
            yield MatrixProbe(
                title="another user", want=ProbeExpectation(status=101, close=4003), headers=bob
            )

    def _tokens(self, row: MatrixRow) -> Iterator[MatrixProbe]:
        without = [scope for scope in self.all_scopes if scope != row.scope]
        yield MatrixProbe(
            title="token without the scope",
            want=refused(row, "FORBIDDEN"),
            headers=self._token("root", *without),
        )
        if row.scope is None:
            return
        if row.access == "admin":
            headers = self._token("ann", *self.all_scopes)
            yield MatrixProbe(
                title="token of no admin", want=refused(row, "FORBIDDEN"), headers=headers
            )
        if row.access == "owner":
            headers = self._token("ann", row.scope, sessions=["another"])
            want = ProbeExpectation(status=404, error="NOT_FOUND")
            yield MatrixProbe(title="token bound to another session", want=want, headers=headers)

    def _token(self, *wanted: str, sessions: Sequence[str] | None = None) -> dict[str, str]:
        """A token's header; the same one for the same rights, for there is a bound on tokens."""
        key = (*wanted, str(sessions))
        if key not in self._tokens_made:
            self._tokens_made[key] = self._world.token(*wanted, sessions=sessions)
        return self._tokens_made[key]

    def _origins(self, method: str, row: MatrixRow) -> Iterator[MatrixProbe]:
        """With an admin's cookie, as a browser would send it along."""
        for title, origin in (
            ("foreign origin", "https://evil.example"),
            ("null origin", "null"),
            ("another port", "http://localhost:1"),
        ):
            if method in SAFE and not row.socket:
                continue
            yield MatrixProbe(
                title=title,
                want=foreign(row, CROSS),
                headers={**self.admin, "Origin": origin},
            )


class MatrixTests(SynchronousTestCase):
    """The matrix."""

    def setUp(self) -> None:
        self.world = SecurityHarness()
        self.addCleanup(self.world.close)
        self.world.populate()
        self.matrix = ProbeMatrix(self.world)
        out = {"Cookie": self.matrix.revoked}
        self.assertEqual(200, self.world.ask("POST", "/api/logout", None, out).status)
        self.world.token("ann", "waits")
        tokens = self.world.good("ann", "GET", "/api/tokens")["tokens"]
        self.token = tokens[0]["id"]
        (self.world.cases("ann") / "of-ann").mkdir()
        made = self.world.good("ann", "POST", "/api/webviews", TAB)
        self.tab = made["webview"]["id"]
        self.timed = self.world.timed_run("ann")
        job = json.loads(self.filled(json.dumps(JOB)))
        self.job = self.world.good("ann", "POST", "/api/cron/jobs", job)["job"]["id"]

    def filled(self, text: str) -> str:
        values = {
            SESSION: self.world.session,
            "{token}": self.token,
            "{job}": getattr(self, "job", ""),
            "{timed}": self.timed,
            "{tab}": self.tab,
            "{cases}": str(self.world.cases("ann")),
        }
        for name, value in values.items():
            text = text.replace(name, value)
        return text

    def send(self, method: str, path: str, row: MatrixRow, probe: MatrixProbe) -> SecurityAnswer:
        values = row.path or {"id": SESSION}
        for name, value in values.items():
            path = path.replace(f"{{{name}}}", self.filled(value))
        body = None if row.body is None else json.loads(self.filled(json.dumps(row.body)))
        query = f"?{self.filled(row.query)}" if row.query else ""
        return self.world.ask(
            method, path + query, body, probe.headers, probe.address, socket=row.socket
        )

    def state(self) -> object:
        """What a refused request leaves as it is, folders of cases among it."""
        cases = sorted(map(str, self.world.config.cases_dir.rglob("*")))
        return self.world.snapshot(), cases

    def judge(self, name: str, probe: MatrixProbe, found: SecurityAnswer) -> list[str]:
        want, wrong = probe.want, []
        if found.status != want.status:
            wrong.append(f"status {found.status}, wanted {want.status}")
        if want.text is not None and found.body != want.text:
            wrong.append(f"text {found.body[:80]!r}")
        if want.error is not None and found.error != want.error:
            wrong.append(f"code {found.error}, wanted {want.error}")
        if want.close is not None and found.code != want.close:
            wrong.append(f"close {found.code}, wanted {want.close}")
        if "access-control-allow-origin" in found.headers:
            wrong.append("readable by another origin")
        if probe.want.status == 401 and "set-cookie" in found.headers:
            wrong.append("gave a cookie")
        return [f"{name}: {probe.title}: {text}" for text in wrong]

    def test_every_route_has_a_row_in_the_matrix(self) -> None:
        table = {f"{it.method} {it.path}" for it in self.world.operations}
        self.assertEqual(sorted(table), sorted(ROWS))

    def test_every_operation_declares_its_response(self) -> None:
        for it in require_items(self.world.operations):
            if it.style in (ResponseStyle.ENVELOPE, ResponseStyle.LONG_POLL):
                self.assertNotIn(it.response_model, (None, dict), it.path)

    def test_every_row_matches_the_operation_table(self) -> None:
        names = {"owner-of-session": "owner"}
        for it in require_items(self.world.operations):
            row = ROWS[f"{it.method} {it.path}"]
            access = names.get(it.access.value, it.access.value)
            self.assertEqual((row.access, row.scope), (access, it.scope), it.path)

    def test_no_unauthorized_caller_reaches_a_route(self) -> None:
        wrong: list[str] = []
        count = 0
        for name, row in ROWS.items():
            method, path = name.split(" ")
            for probe in list(self.matrix.probes(method, row)):
                if probe.title == "must change the password" and is_open(path):
                    continue
                before = self.state()
                found = self.send(method, path, row, probe)
                wrong += self.judge(name, probe, found)
                if self.state() != before:
                    wrong.append(f"{name}: {probe.title}: it had an effect")
                count += 1
        report_figure(f"{len(ROWS)} routes, {count} probes")
        self.assertEqual([], wrong)
        self.assertGreater(count, 10 * len(ROWS))

    def test_cross_origin_reading_is_not_shown_to_the_page(self) -> None:
        for name, row in ROWS.items():
            method, path = name.split(" ")
            if method not in SAFE or row.socket:
                continue
            headers = {**self.matrix.admin, "Origin": "https://evil.example"}
            probe = MatrixProbe(
                title="foreign origin", want=ProbeExpectation(status=200), headers=headers
            )
            found = self.send(method, path, row, probe)
            self.assertNotIn("access-control-allow-origin", found.headers, name)
            self.assertNotIn("access-control-allow-credentials", found.headers, name)
            if found.status == 0:
                continue  # a wait that is held open, and has said nothing yet
            self.assertEqual("nosniff", found.headers.get("x-content-type-options"), name)

    def test_every_authorized_caller_reaches_its_routes(self) -> None:
        """Else the matrix would hold for a service that refuses everybody."""
        for name, row in require_items(sorted(ROWS.items(), key=order)):
            method, path = name.split(" ")
            headers = (
                self.matrix.owner if row.access in ("owner", "user", "hook") else self.matrix.admin
            )
            if row.path == {"name": "root"}:
                row = evolve(row, path={"name": "flag"})
            probe = MatrixProbe(title="rightly", want=ProbeExpectation(status=200), headers=headers)
            found = self.send(method, path, row, probe)
            if name != "POST /api/login" and row.access != "capability":
                self.assertNotIn(found.status, (401, 405), (name, found))
            if name not in ("POST /api/login", "PUT /api/me/password") and row.foreign != 403:
                off = "is off" in found.body
                self.assertTrue(found.status != 403 or off, (name, found))
            if row.socket:
                self.assertEqual((101, row.through), (found.status, found.code))

    def test_paths_outside_the_table_are_not_found(self) -> None:
        world = self.world
        for path in PREFIXES:
            for method in ("GET", "POST", "OPTIONS", "PROPFIND"):
                before = world.snapshot()
                found = world.ask(method, path, None, {**self.matrix.admin, "Host": "e.example"})
                self.assertEqual((403, HOST), (found.status, found.body), path)
                found = world.ask(method, path)
                public = method == "GET" and path in ("/", "/index.html")
                self.assertIn(found.status, (200, 401) if public else (401,), (method, path))
                # The files of the page hold nothing of anybody's.
                found = world.ask(method, path, None, self.matrix.stolen)
                self.assertEqual(200 if public else 401, found.status, (method, path))
                if method not in ("GET", "OPTIONS"):
                    headers = {**self.matrix.admin, "Origin": "null"}
                    found = world.ask(method, path, None, headers)
                    self.assertEqual((403, CROSS), (found.status, found.body), path)
                self.assertEqual(before, world.snapshot())
            headers = {**self.matrix.admin, "Origin": "https://evil.example"}
            found = world.ask("GET", path, None, headers, socket=True)
            self.assertEqual((403, CROSS), (found.status, found.body), path)
            found = world.ask("GET", path, None, {}, socket=True)
            self.assertIn(found.status, (200, 401) if path in ("/", "/index.html") else (401,))


def is_open(path: str) -> bool:
    """What an account may reach whose password must be changed: these, and what is no API."""
    return path in ("/api/me", "/api/me/password") or not path.startswith(("/api/", "/ws/"))


def order(entry: tuple[str, MatrixRow]) -> tuple[int, str]:
    """What ends sessions and cookies goes last."""
    name, _ = entry
    last = ("DELETE", "POST /api/logout", "POST /api/auth/revoke")
    places = [place for place, word in enumerate(last, 1) if name.startswith(word)]
    return max(places, default=0), name
