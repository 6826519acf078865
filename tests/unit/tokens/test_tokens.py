"""Tests for L{tservice.tokens}, most of them through a real gate."""

from __future__ import annotations

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.event_helpers import make_event
from tests.unit.http.gate_harness import GateCase, basic_headers
from tests.unit.http.sample_operations import sample_operation
from tests.unit.http.site_driver import ParsedAnswer
from tservice.access.passwords.failures import CAP
from tservice.core.callers.authentication import IAuthenticator
from tservice.core.callers.identity import Identity
from tservice.core.kernel.clock import LATEST_MS
from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.events import Event, EventAudience, EventName
from tservice.core.kernel.scopes import Scope
from tservice.http.event_stream import receives_event
from tservice.http.operation_decorator import collect_operations
from tservice.http.operations import AccessRule, Operation, ResponseStyle
from tservice.store.database import Database
from tservice.tokens.model import MAX_PER_OWNER, TOKEN, check_scopes, parse_bearer_header
from tservice.tokens.routes import TokenRoutes
from tservice.tokens.service import (
    LOOK_SECONDS,
    USED_SLACK_MS,
    TokenAuthenticator,
    TokenService,
)
from tservice.tokens.store import TokenStore

ANN = Identity(username="ann", admin=False)

HEARD_BY = {
    EventAudience.EVERYONE: "server:shutdown",
    EventAudience.OWNER: "session:updated",
    EventAudience.ADMINS: "mcp:synced",
    EventAudience.PERSON: "tunnel:qrRotated",
}
"""An event of each audience."""


class TokenGateCase(GateCase):
    """A gate with tokens; the owner of C{mine} is ann, of C{theirs} bob."""

    def setUp(self) -> None:
        self.database = Database.open_in_memory()
        self.addCleanup(self.database.close)
        self.people: dict[str, Identity] = {
            "ann": ANN,
            "admin": Identity(username="admin", admin=True),
        }
        self.over: list[frozenset[str]] = []
        super().setUp()

    def start(self, *, multiuser: bool = True) -> TokenService:
        store = TokenStore(self.database, multiuser=multiuser)
        service = TokenService(store, self.clock, self.random, self.over.append)
        self.addCleanup(service.close)
        return service

    def authenticators(self) -> list[IAuthenticator]:
        self.tokens = self.start()
        mine = TokenAuthenticator(self.tokens, lambda name: self.people.get(name))
        return [mine, *super().authenticators()]

    def table(self) -> list[Operation]:
        return [
            *collect_operations(TokenRoutes(self.tokens)),
            sample_operation("GET", "/api/list", self.who, scope=Scope.SESSIONS_READ),
            sample_operation("POST", "/api/list", self.who, scope=Scope.SESSIONS_MANAGE),
            sample_operation("GET", "/api/none", self.who),
            sample_operation("GET", "/api/admin", self.who, access=AccessRule.ADMIN,
                             scope=Scope.ADMIN),
            sample_operation("GET", "/api/settings", self.who, scope=Scope.SETTINGS),
            sample_operation("PUT", "/api/settings", self.who, access=AccessRule.ADMIN,
                             scope=Scope.SETTINGS),
            sample_operation(
                "GET", "/api/sessions/{id}", self.who, access=AccessRule.OWNER,
                scope=Scope.SESSIONS_READ,
            ),
            sample_operation(
                "POST", "/api/sessions/{id}/input", self.who, access=AccessRule.OWNER,
                scope=Scope.SESSIONS_INPUT,
            ),
            sample_operation(
                "GET", "/ws/{id}", self.who, access=AccessRule.OWNER, style=ResponseStyle.WEBSOCKET,
                scope=Scope.SESSIONS_INPUT,
            ),
        ]  # fmt: skip

    def make(self, *scopes: Scope, owner: str = "ann", **fields: Any) -> dict[str, str]:
        """The header of a new token."""
        given = {"sessions": None, "expires_at": None, **fields}
        word, self.made = self.tokens.create_token(owner, "t", scopes, **given)
        return {"Authorization": f"Bearer {word}"}

    def status(self, headers: dict[str, str], path: str, method: str = "GET") -> int:
        return self.ask(headers, path, method).status


class ModeTests(TokenGateCase):
    def test_single_user_named_like_an_account_has_no_tokens_of_it(self) -> None:
        """What the account made is not the only user's, and the other way round."""
        self.make(Scope.SESSIONS_READ)
        alone = self.start(multiuser=False)
        self.assertEqual([], list(alone.list_tokens("ann")))
        alone.create_token(
            "ann", "of the only user", [Scope.SETTINGS], sessions=None, expires_at=None
        )
        for multiuser, name in ((True, "t"), (False, "of the only user")):
            found = self.start(multiuser=multiuser).list_tokens("ann")
            self.assertEqual([name], [token.name for token in found])


class ScopeTests(TokenGateCase):
    def test_token_reaches_exactly_its_scopes(self) -> None:
        token = self.make(Scope.SESSIONS_READ)
        self.assertEqual({"user": "ann", "by": "token"}, self.ask(token, "/api/list").data)
        self.assertEqual(200, self.status(token, "/api/sessions/mine"))
        found = self.ask(token, "/api/sessions/mine/input", "POST").error
        self.assertEqual((403, "FORBIDDEN"), found[:2])
        self.assertIn("sessions:input", found[2])

    def test_route_without_a_scope_is_refused(self) -> None:
        token = self.make(*Scope, owner="admin")
        for path in ("/api/none", "/api/tokens", "/api/me"):
            self.assertEqual(403, self.status(token, path), path)
        self.assertEqual(403, self.status(token, "/api/logout", "POST"))

    def test_token_never_exceeds_the_rights_of_its_owner(self) -> None:
        token = self.make(*Scope)
        self.assertEqual(403, self.status(token, "/api/admin"))
        self.assertEqual(403, self.status(token, "/api/settings", "PUT"))
        self.assertEqual(404, self.status(token, "/api/sessions/theirs"))
        self.people["ann"] = Identity(username="ann", admin=True)
        self.assertEqual(200, self.status(token, "/api/admin"))
        self.assertEqual(200, self.status(token, "/api/sessions/theirs"))

    def test_admin_token_without_the_scope_is_refused(self) -> None:
        token = self.make(Scope.SESSIONS_READ, Scope.SETTINGS, owner="admin")
        self.assertEqual(403, self.status(token, "/api/admin"))
        self.assertEqual(200, self.status(token, "/api/settings", "PUT"))

    def test_token_of_an_owner_who_must_change_the_password_is_refused(self) -> None:
        token = self.make(Scope.SESSIONS_READ)
        self.people["ann"] = Identity(username="ann", admin=False, must_change_password=True)
        self.assertEqual("PASSWORD_CHANGE_REQUIRED", self.ask(token, "/api/list").error[1])

    def test_token_of_a_removed_or_disabled_owner_is_refused(self) -> None:
        token = self.make(Scope.SESSIONS_READ)
        del self.people["ann"]
        self.assertBare(401, "Unauthorized", self.ask(token, "/api/list"))


class BoundTokenTests(TokenGateCase):
    """A token that is bound to sessions."""

    def test_bound_token_reaches_only_its_sessions(self) -> None:
        token = self.make(Scope.SESSIONS_READ, owner="admin", sessions=["mine"])
        self.assertEqual(200, self.status(token, "/api/sessions/mine"))
        self.assertEqual(404, self.status(token, "/api/sessions/theirs"))

    def test_bound_token_gives_no_right_to_a_foreign_session(self) -> None:
        token = self.make(Scope.SESSIONS_READ, sessions=["theirs"])
        self.assertEqual(404, self.status(token, "/api/sessions/theirs"))

    def test_bound_token_reads_lists_and_creates_nothing(self) -> None:
        token = self.make(Scope.SESSIONS_READ, Scope.SESSIONS_MANAGE, sessions=["mine"])
        self.assertEqual(200, self.status(token, "/api/list"))
        self.assertEqual(403, self.status(token, "/api/list", "POST"))

    def test_bound_token_refuses_scopes_not_about_sessions(self) -> None:
        for scope in (Scope.ADMIN, Scope.SETTINGS, Scope.CRON):
            error = self.assertRaises(ServiceError, check_scopes, [scope], ["mine"])
            self.assertIn(str(scope), error.message)

    def test_identity_of_a_bound_token_reaches_only_its_sessions(self) -> None:
        self.make(Scope.EVENTS, sessions=["mine"])
        who = self.made.limit_identity(ANN)
        for owner, session, want in (
            ("ann", "mine", True),
            ("ann", "other", False),
            ("ann", None, False),
            ("bob", "mine", False),
        ):
            self.assertEqual(want, who.can_access(owner, session))

    def test_bound_token_receives_events_of_its_sessions(self) -> None:
        self.make(Scope.EVENTS, sessions=["mine"])
        bound = self.made.limit_identity(ANN)
        free = evolved(bound)
        root = self.made.limit_identity(Identity(username="root", admin=True))

        def event(session: str | None, audience: EventAudience) -> Event:
            return make_event(HEARD_BY[audience], session_id=session, owner="ann")

        for who, one, want in (
            (bound, event("mine", EventAudience.OWNER), True),
            (bound, event("other", EventAudience.OWNER), False),
            (bound, event("other", EventAudience.EVERYONE), False),
            (bound, event(None, EventAudience.EVERYONE), True),
            (free, event("other", EventAudience.OWNER), True),
            (root, event(None, EventAudience.ADMINS), False),
        ):
            self.assertEqual(want, receives_event(one, who, None), one)

    def test_job_events_need_the_scope_to_read_jobs(self) -> None:
        """What they hold is in no session before they run."""
        told = [name for name in EventName if name.startswith("cron:")]
        self.assertEqual(4, len(told))
        for scopes, want in (([Scope.EVENTS], False), ([Scope.EVENTS, Scope.CRON], True)):
            self.make(*scopes)
            who = self.made.limit_identity(ANN)
            for name in told:
                self.assertEqual(
                    want, receives_event(make_event(name, owner="ann"), who, None), name
                )
        self.assertTrue(
            all(receives_event(make_event(name, owner="ann"), ANN, None) for name in told)
        )


def evolved(who: Identity) -> Identity:
    """C{who}, bound to nothing."""
    return Identity(
        username=who.username, admin=who.admin, token=who.token, scopes=who.scopes, method="token"
    )


class TokenLifeTests(TokenGateCase):
    def test_token_itself_is_not_stored(self) -> None:
        header = self.make(Scope.WAITS)
        word = header["Authorization"].split()[1]
        self.assertTrue(TOKEN.fullmatch(word))
        rows = [tuple(row) for row in self.database.query_rows("SELECT * FROM api_tokens")]
        self.assertNotIn(word, repr(rows))
        self.assertNotIn(word, repr(self.made))

    def test_tokens_survive_a_restart(self) -> None:
        self.make(Scope.WAITS, Scope.GIT, sessions=["a", "b"], expires_at=99_000)
        self.assertEqual([self.made], self.start().list_tokens("ann"))

    def test_expired_token_is_removed(self) -> None:
        token = self.make(Scope.SESSIONS_READ, expires_at=30_000)
        self.assertEqual(200, self.status(token, "/api/list"))
        self.clock.advance(30)
        self.assertEqual(401, self.status(token, "/api/list"))
        self.assertEqual([], self.tokens.list_tokens("ann"))
        # At once, not at the next look: what is open in its name ends with it.
        self.assertEqual([frozenset([self.made.id])], self.over)
        self.assertEqual([], self.database.query_rows("SELECT * FROM api_tokens"))

    def test_next_expiry_is_scheduled(self) -> None:
        self.make(Scope.GIT, expires_at=90_000)
        first = self.made
        self.make(Scope.GIT, expires_at=10_000)
        last = self.made
        self.assertEqual(last, self.tokens.find_live_token(last.id))
        self.clock.advance(10)
        self.assertEqual([frozenset([last.id])], self.over)
        self.assertIsNone(self.tokens.find_live_token(last.id))
        self.clock.pump([LOOK_SECONDS, 20])
        self.assertEqual(frozenset([first.id]), self.over[-1])
        self.assertIsNone(self.tokens._timer)

    def test_distant_expiry_is_checked_in_steps(self) -> None:
        self.make(Scope.GIT, expires_at=LATEST_MS)
        [call] = self.clock.getDelayedCalls()
        self.assertEqual(LOOK_SECONDS, call.getTime() - self.clock.seconds())

    def test_no_timer_runs_without_expiring_tokens(self) -> None:
        self.make(Scope.WAITS)
        self.assertIsNone(self.tokens._timer)

    def test_deleted_token_is_refused(self) -> None:
        token = self.make(Scope.SESSIONS_READ)
        self.assertRaises(ServiceError, self.tokens.delete_token, self.made.id, "bob")
        self.tokens.delete_token(self.made.id, "ann")
        self.assertEqual(401, self.status(token, "/api/list"))
        self.assertEqual([frozenset([self.made.id])], self.over)

    def test_tokens_are_deleted_with_their_owner(self) -> None:
        self.make(Scope.WAITS, owner="admin")
        self.make(Scope.WAITS)
        self.tokens.end_owner_tokens("ann")
        self.assertEqual(
            ([], 1), (self.tokens.list_tokens("ann"), len(self.tokens.list_tokens("admin")))
        )

    def test_tokens_are_limited_per_owner(self) -> None:
        for _ in range(MAX_PER_OWNER):
            self.make(Scope.WAITS)
        self.assertRaises(ServiceError, self.make, Scope.WAITS)
        self.make(Scope.WAITS, owner="admin")

    def test_last_use_is_recorded_with_a_delay(self) -> None:
        token = self.make(Scope.SESSIONS_READ)
        self.clock.advance(1)
        for seconds in (0.0, 1.0, USED_SLACK_MS / 1000):
            self.clock.advance(seconds)
            self.status(token, "/api/list")
        self.assertEqual(
            int(self.clock.seconds() * 1000), self.tokens.list_tokens("ann")[0].last_used_at
        )


class WrongTests(TokenGateCase):
    def test_wrong_tokens_are_counted_separately(self) -> None:
        wrong = {"Authorization": "Bearer tsk_" + "x" * 43}
        for _ in range(CAP):
            self.assertBare(401, "Unauthorized", self.ask(wrong))
        self.assertEqual(429, self.ask(wrong).status)
        self.assertEqual(401, self.ask(basic_headers("admin", "wrong")).status)
        self.assertEqual(200, self.status(self.make(Scope.SESSIONS_READ), "/api/list"))

    def test_token_in_a_url_or_cookie_is_ignored(self) -> None:
        word = self.make(Scope.SESSIONS_READ)["Authorization"].split()[1]
        for query in ("token", "access_token", "authorization", "api_key"):
            self.assertEqual(401, self.status({}, f"/api/list?{query}={word}"), query)
        self.assertEqual(401, self.status({"Cookie": f"service_session={word}"}, "/api/list"))
        self.assertEqual(401, self.status(basic_headers("ann", word), "/api/list"))

    def test_token_opens_no_cookie_session(self) -> None:
        found = self.ask(self.make(Scope.SESSIONS_READ), "/api/list")
        self.assertNotIn("set-cookie", found.headers)

    def test_token_takes_precedence_over_a_cookie(self) -> None:
        """What a program shows on purpose bounds it, whatever its cookie jar holds."""
        cookie = self.cookies.open_session("admin", "basic", "::1", "", keyed=False).token
        headers = {"Cookie": f"service_session={cookie}"}
        self.assertEqual(200, self.status(headers, "/api/me"))
        headers = {**headers, **self.make(Scope.SESSIONS_READ)}
        self.assertEqual(403, self.status(headers, "/api/me"))


class TokenRouteTests(TokenGateCase):
    def post(self, **body: Any) -> ParsedAnswer:
        return self.ask(basic_headers(), "/api/tokens", "POST", body)

    def test_token_is_created_listed_and_deleted(self) -> None:
        made = self.post(name="ci", scopes=["waits", "sessions:read"], sessions=["a"]).data
        self.assertTrue(TOKEN.fullmatch(made["token"]))
        listed = self.ask(basic_headers(), "/api/tokens").data["tokens"]
        self.assertEqual([made["record"]], listed)
        self.assertEqual(["sessions:read", "waits"], listed[0]["scopes"])
        self.assertNotIn("token", listed[0])
        path = f"/api/tokens/{listed[0]['id']}"
        self.assertEqual(200, self.ask(basic_headers(), path, "DELETE").status)
        self.assertEqual(404, self.ask(basic_headers(), path, "DELETE").status)

    def test_token_of_another_account_is_not_found(self) -> None:
        self.make(Scope.WAITS)
        self.assertEqual([], self.ask(basic_headers(), "/api/tokens").data["tokens"])
        self.assertEqual(
            404, self.ask(basic_headers(), f"/api/tokens/{self.made.id}", "DELETE").status
        )

    def test_invalid_token_fields_are_refused(self) -> None:
        good: dict[str, Any] = {"name": "x", "scopes": ["waits"]}
        for wrong, field in (
            ({"name": ""}, "name"),
            ({"name": "a\0b"}, "name"),
            ({"name": "a\nb"}, "name"),
            ({"scopes": []}, "scopes"),
            ({"scopes": ["everything"]}, "scopes"),
            ({"scopes": "waits"}, "scopes"),
            ({"sessions": []}, "sessions"),
            ({"scopes": ["admin"], "sessions": ["a"]}, "scopes"),
            ({"expiresAt": 0}, "expiresAt"),
            ({"expiresAt": "soon"}, "expiresAt"),
            ({"owner": "bob"}, "owner"),
        ):
            status, code, text = self.post(**{**good, **wrong}).error
            self.assertEqual((400, "INVALID_INPUT"), (status, code))
            self.assertTrue(text.startswith(field), text)


class BearerHeaderTests(SynchronousTestCase):
    def test_bearer_header_is_parsed(self) -> None:
        for header, want in (
            ("Bearer x", "x"),
            ("bearer  x ", "x"),
            ("Basic x", None),
            ("", None),
            ("Bearer", ""),
        ):
            self.assertEqual(want, parse_bearer_header(header))
