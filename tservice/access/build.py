"""Assembly of authentication and authorization."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Sequence

from attrs import frozen

from tservice.access import hook_secret
from tservice.access.accounts.account_routes import AccountRoutes
from tservice.access.accounts.account_store import AccountStore
from tservice.access.accounts.accounts import AccountsDependencies, AccountService
from tservice.access.accounts.first_admin import make_first_admin, warn_about_shared_user
from tservice.access.accounts.removed_accounts import RemovedAccountCleanup
from tservice.access.authenticators import (
    BasicAuthenticator,
    CookieAuthenticator,
    HookAuthenticator,
    OpenAccessAuthenticator,
)
from tservice.access.capabilities import CapabilityRegistry
from tservice.access.cookie_sessions import CookieSessionRegistry
from tservice.access.cookie_store import DatabaseCookieStore
from tservice.access.credentials import CredentialRegistry, OpenConnections
from tservice.access.first_password import (
    PasswordSetup,
    load_password_hash,
    make_hash_seal,
)
from tservice.access.interfaces import IAccounts
from tservice.access.passwords.failures import FailureCounter
from tservice.access.passwords.hashing import FairPasswordHasher, make_password_seal
from tservice.access.passwords.passwords import SingleAccount
from tservice.access.passwords.sign_in import KNOWN_SECONDS, KnownAddresses, PasswordChecker
from tservice.access.routes import AccessRoutes
from tservice.audit.service import AuditLog
from tservice.core.callers.authentication import IAuthenticator
from tservice.core.callers.identity import AccountExists
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import ServiceError
from tservice.http.gate import AccessGate, make_gate_rules
from tservice.http.metrics import MetricSource
from tservice.http.operation_decorator import collect_operations
from tservice.http.operations import Operation
from tservice.http.static_files import StaticPages
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime
from tservice.sessions.service import SessionService
from tservice.tokens.agent_tokens import FOLDER, AgentTokens
from tservice.tokens.routes import TokenRoutes
from tservice.tokens.service import TokenAuthenticator, TokenService
from tservice.tokens.store import TokenStore
from tservice.tunnel.build import build_operations, build_qr_login
from tservice.tunnel.service import TunnelService


@frozen(kw_only=True)
class AccessControl:
    """Assembled authentication and authorization.

    @ivar accounts: the accounts.
    @ivar capabilities: capability tokens in paths.
    @ivar failures: counts wrong passwords, secrets and codes.
    """

    gate: AccessGate
    accounts: IAccounts
    capabilities: CapabilityRegistry
    failures: FailureCounter


def build_access(
    ground: Runtime,
    *,
    audit: AuditLog,
    sessions: SessionService,
    open_connections: Sequence[OpenConnections],
    sse_clients: Callable[[], int],
    pages: StaticPages,
    tunnel: TunnelService,
) -> FeatureRegistration[AccessControl]:
    """Build passwords, accounts, cookies, tokens, the hook secret, and the gate that uses them.

    @param open_connections: connections that end with the right to them.
    @raise StartError: a secret's file is not one of the service's, or accessible to others; or the
        first admin cannot be created.
    """
    config = ground.config
    secret = hook_secret.load_hook_secret(config.data_dir, ground.random)
    ground.redactor.register_secret(secret)
    known = _build_credentials(ground, audit, open_connections)
    cookies, failures, tokens = known.cookies, known.failures, _build_tokens(ground, known)
    accounts, routes, setup = _build_accounts(ground, secret, sessions, known, tokens)
    known.accounts.bind_value(accounts)
    if ground.sign_in.is_required:
        known.end_outdated_sessions()
    agents = _build_agent_tokens(ground, known, accounts, sessions)

    def close_credentials() -> None:
        for each in (agents, tokens, known):
            each.close()

    codes = build_qr_login(ground, tunnel, cookies, failures, accounts)
    known.codes.bind_value(codes)
    gate = AccessGate(
        make_gate_rules(config, (), tunnel.list_public_hosts),
        [agents, *_list_authenticators(ground, cookies, tokens, accounts, known.passwords())],
        HookAuthenticator(secret), failures,
        lambda session_id: find_session_owner(sessions, session_id), pages.login_page,
    )  # fmt: skip
    sessions.set_sender_check(gate.keeps_session_access)
    signing = AccessRoutes(
        cookies, known.passwords(), config.username, config.multiuser,
        codes.replace_all_codes, setup,
    )  # fmt: skip
    return FeatureRegistration(
        name="access",
        service=AccessControl(
            gate=gate, accounts=accounts, capabilities=known.capabilities, failures=failures
        ),
        operations=[
            *collect_operations(signing),
            *routes,
            *collect_operations(TokenRoutes(tokens)),
            *build_operations(tunnel, codes, cookies, sse_clients),
        ],
        measures=[_make_lockout_metric(failures)],
        close=close_credentials,
    )


def _build_credentials(
    ground: Runtime, audit: AuditLog, open_connections: Sequence[OpenConnections]
) -> CredentialRegistry:
    since = get_unix_ms(ground.reactor) - KNOWN_SECONDS * 1000
    return CredentialRegistry(
        clock=ground.reactor,
        random=ground.random,
        store=DatabaseCookieStore(ground.database),
        audit=audit,
        failures=FailureCounter(ground.reactor, audit.record_failure),
        known=KnownAddresses(ground.reactor, audit.list_sign_ins(since)),
        open_connections=open_connections,
    )


def _build_tokens(ground: Runtime, known: CredentialRegistry) -> TokenService:
    store = TokenStore(ground.database, multiuser=ground.config.multiuser)
    return TokenService(store, ground.reactor, ground.random, known.end_token_access)


def _make_lockout_metric(failures: FailureCounter) -> MetricSource:
    text = "Lockouts after too many wrong passwords, secrets or codes."
    labels = ("bucket", "kind")
    return MetricSource("sign_in_lockouts", text, lambda: failures.lockouts, labels, grows=True)


def _build_agent_tokens(
    ground: Runtime, known: CredentialRegistry, accounts: IAccounts, sessions: SessionService
) -> AgentTokens:
    """Return the registry of agent tokens, which issues tokens to sessions that start from
    now on.
    """
    agents = AgentTokens(
        clock=ground.reactor,
        random=ground.random,
        folder=ground.config.data_dir / FOLDER,
        enabled=lambda: ground.settings.get().agent_tokens,
        hub=ground.hub,
        owner=accounts.find_identity,
        children=sessions.find_child_ids,
        ended=known.end_agent_access,
    )
    sessions.set_token_issuer(agents)
    return agents


def _build_accounts(
    ground: Runtime,
    secret: str,
    sessions: SessionService,
    known: CredentialRegistry,
    tokens: TokenService,
) -> tuple[IAccounts, list[Operation], PasswordSetup | None]:
    """Return the accounts, their routes, and the setup of a password if there is none yet.

    @param secret: the secret of this data folder.
    """
    config = ground.config
    if not config.multiuser:
        ground.account_rights.bind_value(lambda name: None)
        ground.account_id.bind_value(lambda name: None)
        single, setup = _build_single_account(ground, secret, known)
        known.make_password_checker(single)
        return single, [], setup

    deps = AccountsDependencies(
        clock=ground.reactor,
        random=ground.random,
        hasher=FairPasswordHasher(ground.worker_pools.hashing, ground.random),
        hub=ground.hub,
        revoke=known.revoke_access,
        forget=tokens.end_owner_tokens,
        tokens_of=lambda name: len(tokens.list_tokens(name)),
        os_users=ground.os_users.users,
        owns=lambda name: any(one.owner == name for one in sessions.list()),
    )
    accounts = AccountService(AccountStore(ground.database), deps)
    ground.account_rights.bind_value(accounts.get_rights)
    ground.account_id.bind_value(accounts.find_account_id)
    make_first_admin(accounts, config.username, config.password)
    warn_about_shared_user(accounts)
    passwords = known.make_password_checker(accounts)
    routes = collect_operations(AccountRoutes(accounts, known.cookies, passwords))
    return accounts, routes, None


def _build_single_account(
    ground: Runtime, secret: str, known: CredentialRegistry
) -> tuple[SingleAccount, PasswordSetup | None]:
    """Return the account of single-user mode, and the setup of its password if it has none.

    A configured password wins over one that was set on the page.

    @raise StartError: the file of a stored password is not valid.
    """
    config = ground.config
    salt = hmac.digest(secret.encode(), b"password seal", "sha256")
    hasher = FairPasswordHasher(ground.worker_pools.hashing, ground.random)
    if config.password is not None:
        seal = make_password_seal(config.password, salt)
        return SingleAccount(config.username, config.password, hasher, seal), None
    account = SingleAccount(config.username, None, hasher)
    if config.has_stored_password:
        password_hash = load_password_hash(config.password_hash_file)
        account.set_hash(password_hash, make_hash_seal(password_hash, salt))
        return account, None

    def complete(username: str, password: str) -> None:
        ground.redactor.register_login(username, password)
        known.end_open_access()

    return account, PasswordSetup(
        path=config.password_hash_file,
        salt=salt,
        rule=ground.sign_in,
        account=account,
        hasher=hasher,
        completed=complete,
    )


def _list_authenticators(
    ground: Runtime,
    cookies: CookieSessionRegistry,
    tokens: TokenService,
    accounts: IAccounts,
    passwords: PasswordChecker,
) -> list[IAuthenticator]:
    """Return the authenticators in the order in which they are tried.

    Credentials that the client chose to send are tried before those that browsers send by
    themselves.
    """
    return [
        TokenAuthenticator(tokens, accounts.find_identity),
        OpenAccessAuthenticator(ground.config.username, ground.sign_in),
        CookieAuthenticator(cookies, accounts),
        BasicAuthenticator(cookies, accounts, passwords),
    ]


def find_session_owner(sessions: SessionService, session_id: str) -> str | None:
    """Return the owner of a session; C{None} if the session has no owner or is unknown."""
    try:
        return sessions.get_owner(session_id)
    except ServiceError:
        return None


def build_removed_accounts(
    ground: Runtime,
    *,
    accounts: IAccounts,
    forgets: Sequence[Callable[[AccountExists], object]],
) -> FeatureRegistration[None]:
    """Build the cleanup of removed accounts' data; it does nothing in single-user mode.

    @param forgets: functions of the features that delete the data of accounts that do not exist.
    """
    if not ground.config.multiuser:
        return FeatureRegistration(name="departures", service=None)
    departures = RemovedAccountCleanup(ground.hub, accounts.account_exists, forgets)
    return FeatureRegistration(
        name="departures", service=None, start=departures.start, close=departures.stop
    )
