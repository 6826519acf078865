"""Gate that checks every request: Host, then Origin, then authentication (protocol-gate).

Authenticators decide whether credentials are valid (L{tservice.core.callers.authentication}); the
gate decides how to respond.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from math import ceil

from attrs import evolve, frozen
from zope.interface import implementer

from tservice.core.callers.authentication import (
    AuthenticationRequest,
    CredentialsAccepted,
    CredentialsRejected,
    IAuthenticator,
    IFailureCounter,
)
from tservice.core.callers.identity import Identity
from tservice.core.config.model import Config
from tservice.core.kernel.errors import ErrorCode, ServiceError, StartError, make_not_found_error
from tservice.core.kernel.scopes import READ_ONLY_SCOPES
from tservice.http.envelope import HttpRefusal, HttpResponse, make_bare_refusal
from tservice.http.kernel import IGate
from tservice.http.operations import AccessRule, Operation, ResponseStyle
from tservice.http.request import ServiceRequest
from tservice.http.security import hosts, paths
from tservice.http.security.headers import HSTS, cors_headers, security_headers
from tservice.http.security.hosts import LOOPBACK, HostPolicy, Network, WebOrigin
from tservice.http.security.page_key import find_page_key

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
CHALLENGE = {"WWW-Authenticate": 'Basic realm="Service"'}

MOST_COOKIES = 8
"""Limit on the cookies of one name that are checked in a request."""

ANONYMOUS = Identity(username="", admin=False, method="none", can_bypass_permissions=False)
"""Identity of the callers of public operations, who are not authenticated."""

PASSWORD_PATHS = frozenset({"/api/me", "/api/me/password"})
"""API paths that remain available to an account whose password must be changed."""


def make_unauthorized_refusal(text: str = "Unauthorized", challenge: bool = True) -> HttpRefusal:
    """Return a 401 response in plain text (protocol-auth).

    @param challenge: true if the browser should prompt for a password.
    """
    return make_bare_refusal(401, text, CHALLENGE if challenge else {})


def make_lockout_refusal(seconds: float) -> HttpRefusal:
    """Return a 429 response in plain text for a caller over a failure limit.

    @param seconds: seconds after which the caller may retry.
    """
    text = "Too Many Requests — try again later"
    return make_bare_refusal(429, text, {"Retry-After": str(max(1, ceil(seconds)))})


def prefers_page(accept: str) -> bool:
    """Return whether an Accept header prefers HTML to JSON, as the header of a browser does."""
    weights = {"text/html": 0.0, "application/json": 0.0}
    for part in accept.lower().split(","):
        kind, *parameters = (piece.strip() for piece in part.split(";"))
        if kind in weights:
            weights[kind] = _accept_quality(parameters)
    return weights["text/html"] > weights["application/json"]


def _accept_quality(parameters: Sequence[str]) -> float:
    for parameter in parameters:
        if parameter.startswith("q="):
            try:
                return float(parameter[2:])
            except ValueError:
                return 0.0
    return 1.0


def wants_login_page(visit: AuthenticationRequest) -> bool:
    """Return whether a 401 response should be the login page (protocol-auth)."""
    if visit.method not in ("GET", "HEAD") or visit.upgrade or paths.is_program_path(visit.path):
        return False
    return prefers_page(visit.header("accept") or "")


def is_from_script(visit: AuthenticationRequest) -> bool:
    """Return whether a page's script sent the request.

    A challenge would then open the browser's password dialog over the page.
    """
    return visit.key is not None or (visit.header("sec-fetch-mode") or "navigate") != "navigate"


def _may_send_password_prompt(visit: AuthenticationRequest) -> bool:
    """Return whether the browser may prompt for a password.

    The browser may not after a link from another page.  The link could carry a user name and
    password, which the browser keeps and sends with all later requests of the UI.
    """
    return not (visit.led or is_from_script(visit))


def _is_cross_site_call(visit: AuthenticationRequest) -> bool:
    """Return whether a page of another origin calls the API, according to the browser.

    That page cannot see the response.  But if no password is required, or the browser knows it, the
    page could hold streams and waits open, or start a process.  Following a link does not count.
    """
    return (
        _is_cross_site_navigation(visit)
        and paths.is_operation_path(visit.path)
        and not _is_navigation(visit)
    )


def _is_navigation(visit: AuthenticationRequest) -> bool:
    """Return whether a user navigates to the page, which excludes frames and prefetches."""
    held = (visit.header("sec-fetch-dest") or "document") != "document"
    return not (is_from_script(visit) or held or visit.header("sec-purpose"))


def _is_cross_site_navigation(visit: AuthenticationRequest) -> bool:
    """Return whether a page of another origin caused the request, according to the browser.

    Links and forms count too.
    """
    return visit.header("sec-fetch-site") in ("cross-site", "same-site")


@frozen(kw_only=True)
class GateRules:
    """Operator's settings for the gate.

    @ivar tunnel_hosts: returns the host names of the tunnels that are currently up.
    @ivar origins: origins that CORS admits, which are on localhost.
    @ivar proxies: addresses of proxies whose X-Forwarded-* headers are trusted.
    @ivar gesture: true if the gesture overlay is enabled (C{SERVICE_GESTURE=1}).
    @ivar base_path: the path under which a reverse proxy serves the service.  It does not apply to
        requests through a tunnel.
    """

    hosts: HostPolicy
    tunnel_hosts: Callable[[], Collection[str]]
    origins: frozenset[WebOrigin]
    proxies: tuple[Network, ...]
    gesture: bool = False
    base_path: str = ""


def make_gate_rules(
    config: Config,
    bind_hosts: Iterable[str],
    tunnel_hosts: Callable[[], Collection[str]] = tuple,
) -> GateRules:
    """Return the gate's rules for a configuration.

    @param bind_hosts: host names that the service listens on.
    @param tunnel_hosts: returns the host names of the tunnels that are currently up.
    @raise StartError: an allowed origin is not on this machine, or a proxy is not an address.
    """
    try:
        return GateRules(
            hosts=hosts.make_host_policy(bind_hosts, config.allowed_hosts),
            tunnel_hosts=tunnel_hosts,
            origins=hosts.parse_localhost_origins(config.allowed_origins),
            proxies=hosts.parse_trusted_networks(config.trusted_proxies),
            gesture=config.gesture,
            base_path=config.base_path,
        )
    except ValueError as error:
        raise StartError(str(error)) from None


@implementer(IGate)
class AccessGate:
    """Gate that authenticates and authorizes requests.

    @ivar isolated: returns the origin of the listener for web tabs, given the Host header of a
        request.  C{None} if web tabs have no separate listener.
    """

    def __init__(
        self,
        rules: GateRules,
        authenticators: Sequence[IAuthenticator],
        hook: IAuthenticator,
        failures: IFailureCounter,
        owner_of: Callable[[str], str | None],
        login_page: Callable[[], HttpResponse],
    ) -> None:
        """@param authenticators: tried in order; the first one that accepts the request decides.
        @param hook: the authenticator for hooks from this machine.
        @param owner_of: returns a session's owner; C{None} also for an unknown session.
        @param login_page: returns the page for a person who is not signed in; the gate sets its
            status.
        """
        self.isolated: Callable[[str], str | None] = lambda host: None
        self._rules, self._failures = rules, failures
        self._authenticators, self._hook = tuple(authenticators), hook
        self._owner_of, self._login_page = owner_of, login_page

    def check_host_and_origin(
        self, request: ServiceRequest, method: str, path: str | None
    ) -> AuthenticationRequest:
        """Check the Host and Origin headers, and return the request's data for authentication.

        @raise HttpRefusal: bare 403.
        """
        visit = self.check_host(request, method, path)
        came = self._find_source(request)
        host = hosts.parse_host(came.host or "")
        assert host is not None, "screened"  # noqa: S101
        scheme = came.scheme or ("https" if visit.secure else None)
        judged = self._check_origin(visit, _header_values(request, "origin"), host, scheme)
        return evolve(judged, led=judged.cors is None and _is_cross_site_navigation(judged))

    def check_host(
        self, request: ServiceRequest, method: str, path: str | None
    ) -> AuthenticationRequest:
        """Check the Host header only, and return the request's data for authentication.

        @raise HttpRefusal: bare 403.
        """
        came = self._find_source(request)
        host = hosts.parse_host(came.host or "")
        # A proxy may forward X-Forwarded-Host as a rebound page sent it: check Host as well.
        own = hosts.parse_host(_single_header(request, "host") or "")
        if host is None or own is None or not (self._admits_host(host) and self._admits_host(own)):
            raise make_bare_refusal(403, "Forbidden: host not allowed")
        upgrade = "websocket" in ",".join(_header_values(request, "upgrade")).lower()
        return AuthenticationRequest(
            method=method,
            path=path,
            host=came.host or "",
            address=came.address,
            secure=request.isSecure() or came.scheme == "https",
            upgrade=upgrade,
            key=find_page_key(request, upgrade),
            base="" if host.name in self._rules.tunnel_hosts() else self._rules.base_path,
            header=request.getHeader,
            cookies=lambda name: _cookie_values(request, name),
        )

    def _find_source(self, request: ServiceRequest) -> hosts.RequestSource:
        def get_header(name: str) -> str | None:
            return ",".join(_header_values(request, name)) or None

        peer = getattr(request.getClientAddress(), "host", "unix")
        came = hosts.find_source(
            peer, _single_header(request, "host"), self._rules.proxies, get_header
        )
        return hosts.find_tunnel_source(came, self._rules.tunnel_hosts(), get_header)

    def _admits_host(self, host: hosts.HostHeader) -> bool:
        return hosts.admits_host(host, self._rules.hosts) or host.name in self._rules.tunnel_hosts()

    def _check_origin(
        self,
        visit: AuthenticationRequest,
        origins: Sequence[str],
        host: hosts.HostHeader,
        scheme: str | None,
    ) -> AuthenticationRequest:
        changing = visit.upgrade or visit.method not in SAFE_METHODS
        if not origins and not (
            _is_cross_site_navigation(visit) if changing else _is_cross_site_call(visit)
        ):
            return visit
        origin = hosts.parse_origin(origins[0]) if len(origins) == 1 else None
        if hosts.is_same_origin(origin, host, scheme):
            return visit
        if origin is not None and origin in self._rules.origins:
            asked = visit.method == "OPTIONS" and visit.header("access-control-request-method")
            return evolve(visit, cors=origins[0], preflight=bool(asked))
        if changing or _is_cross_site_call(visit):
            raise make_bare_refusal(403, "Forbidden: cross-site request blocked")
        return visit

    def get_headers(self, visit: AuthenticationRequest | None) -> Mapping[str, str]:
        """Return the headers that every response carries.

        @param visit: the request's data.  C{None} if L{check_host_and_origin} refused the request.
        """
        if visit is None:
            return security_headers("", self._rules.gesture)
        isolated = self.isolated(visit.host)
        headers = dict(security_headers(visit.host, self._rules.gesture, isolated))
        if visit.secure:
            headers["Strict-Transport-Security"] = HSTS
        if visit.cors is not None:
            headers.update(cors_headers(visit.cors, visit.preflight))
        return headers

    async def identify_caller(
        self, visit: AuthenticationRequest, operation: Operation | None
    ) -> CredentialsAccepted:
        """Authenticate the caller.

        @raise HttpRefusal: 401 in plain text or as the login page, or 429 over a failure limit.
        """
        access = AccessRule.USER if operation is None else operation.access
        if access in (AccessRule.PUBLIC, AccessRule.CAPABILITY):
            return CredentialsAccepted(identity=ANONYMOUS)
        if access is AccessRule.HOOK and visit.address in LOOPBACK:
            verdict = await self._hook.authenticate(visit)
            if isinstance(verdict, CredentialsAccepted):
                return verdict
            raise self._make_refusal(visit, verdict)
        wrong: CredentialsRejected | None = None
        for authenticator in self._authenticators:
            verdict = await authenticator.authenticate(visit)
            if isinstance(verdict, CredentialsAccepted):
                return verdict
            wrong = wrong or verdict
        raise self._make_refusal(visit, wrong)

    async def identify_optional(self, visit: AuthenticationRequest) -> Identity | None:
        """Return the caller's identity for an operation that needs no credentials; C{None} without
        any.

        @raise HttpRefusal: as for L{identify_caller}, if the credentials are wrong.  Otherwise
            passwords could be guessed through such an operation without being counted.
        """
        for authenticator in self._authenticators:
            verdict = await authenticator.authenticate(visit)
            if isinstance(verdict, CredentialsAccepted):
                return verdict.identity
            if verdict is not None:
                raise self._make_refusal(visit, verdict)
        return None

    def _make_refusal(
        self, visit: AuthenticationRequest, wrong: CredentialsRejected | None
    ) -> HttpRefusal:
        wait = 0.0 if wrong is None else wrong.busy
        if wrong is not None and not (wrong.busy or wrong.is_counted):
            wait = self._failures.record_failure(wrong.bucket, visit.address, None)
        if wants_login_page(visit):
            # Also over the cap: another user at the same address may know the password.
            return HttpRefusal(evolve(self._login_page(), status=401))
        if wait:
            return make_lockout_refusal(wait)
        if wrong is not None and not wrong.challenge:
            return make_unauthorized_refusal(wrong.text, challenge=False)
        return make_unauthorized_refusal(challenge=_may_send_password_prompt(visit))

    def authorize_call(
        self,
        visit: AuthenticationRequest,
        who: Identity,
        operation: Operation | None,
        path: Mapping[str, str],
    ) -> None:
        """Check that C{who} may call C{operation}.

        @param operation: C{None} for an unknown path; the caller then needs the right to learn
            that.
        @raise ServiceError: 403, or for another user's session the 404 of an unknown one.
        """
        if who is ANONYMOUS:
            return
        if who.must_change_password and is_path_closed_until_password_change(visit.path):
            raise ServiceError(ErrorCode.PASSWORD_CHANGE_REQUIRED, "Change your password first")
        if operation is None:
            return
        if who.scopes is not None:
            check_token(who, operation, path)
        if operation.access is AccessRule.ADMIN and not who.admin:
            raise ServiceError(ErrorCode.FORBIDDEN, "Only an admin may do this")
        if operation.access is AccessRule.OWNER:
            self._check_owner(who, operation, path["id"])

    def reauthorize_call(
        self,
        visit: AuthenticationRequest,
        who: Identity,
        operation: Operation,
        path: Mapping[str, str],
    ) -> None:
        """Check that C{who}, who was admitted to C{operation}, still has all its rights.

        The response was prepared for the caller's rights at the start, so none of them may be lost.

        @raise HttpRefusal: 401: the caller signed out, or the token or account was removed.
        @raise ServiceError: 404 for a session that the caller may no longer see, else 403.
        """
        if who is ANONYMOUS:
            return
        now = self._current_identity(who)
        if now is None:
            raise make_unauthorized_refusal(challenge=_may_send_password_prompt(visit))
        session = path["id"] if operation.access is AccessRule.OWNER else None
        if session is not None and self._owner_of(session) is not None:
            self._check_owner(now, operation, session)
        if not now.keeps_rights_of(who):
            text = "Your permission was revoked while this request was running"
            raise ServiceError(ErrorCode.FORBIDDEN, text)

    def keeps_session_access(self, who: Identity, session_id: str) -> bool:
        """Return whether C{who}, who was admitted to a session, still has all its rights."""
        now = self._current_identity(who)
        if now is None or not now.keeps_rights_of(who):
            return False
        return now.can_access(self._owner_of(session_id), session_id)

    def _current_identity(self, who: Identity) -> Identity | None:
        found = (judge.reauthorize_identity(who) for judge in (*self._authenticators, self._hook))
        return next((identity for identity in found if identity is not None), None)

    def _check_owner(self, who: Identity, operation: Operation, session: str) -> None:
        owner = self._owner_of(session)
        if who.can_access(owner, session):
            return
        if operation.for_agent_itself and who.parent == session and owner == who.username:
            return
        if operation.style is not ResponseStyle.WEBSOCKET:
            raise make_not_found_error(f"Session {session}")
        if owner is not None:
            raise ServiceError(ErrorCode.FORBIDDEN, f"Session {session} is not yours")


def check_token(who: Identity, operation: Operation, path: Mapping[str, str]) -> None:
    """Check that the caller's token may call C{operation}; session ownership is checked elsewhere.

    @raise ServiceError: 403 naming the missing scope.
    """
    scope = operation.scope
    if scope is None:
        raise ServiceError(ErrorCode.FORBIDDEN, "Tokens may not do this: sign in instead")
    if not who.has_scope(scope):
        raise ServiceError(ErrorCode.FORBIDDEN, f"The token lacks the scope {scope}")
    if who.sessions is None or operation.access is AccessRule.OWNER or operation.proxies_calls:
        return
    if who.parent is not None and operation.creates_session:
        return
    if operation.style is ResponseStyle.WEBSOCKET and "id" in path:
        return  # its handler checks, to close with a code
    if operation.method not in SAFE_METHODS or scope not in READ_ONLY_SCOPES:
        raise ServiceError(ErrorCode.FORBIDDEN, "The token only gives access to its sessions")


def is_path_closed_until_password_change(path: str | None) -> bool:
    """Return whether the path is unavailable to an account that must change its password
    (protocol-users).
    """
    if path is None or path in PASSWORD_PATHS:
        return False
    return paths.is_operation_path(path) or path.startswith("/ws/")


def _header_values(request: ServiceRequest, name: str) -> Sequence[str]:
    return [value for value in request.header_values(name) if value]


def _single_header(request: ServiceRequest, name: str) -> str | None:
    """Return a header's value; C{None} if the header is missing or repeated."""
    found = request.header_values(name)
    return found[0] if len(found) == 1 else None


def _cookie_values(request: ServiceRequest, name: str) -> Sequence[str]:
    pairs = ";".join(request.header_values("cookie")).split(";")
    found = [pair.strip().partition("=") for pair in pairs]
    return [value for key, _, value in found if key == name and value][:MOST_COOKIES]
