"""Who may drive what runs: type into it, and answer what it asks (protocol-driving)."""

from __future__ import annotations

from attrs import frozen

from tservice.clis.interfaces import CliKind, ICliRegistry
from tservice.core.errors import ErrorCode, ServiceError
from tservice.core.identity import Identity
from tservice.core.places.bounds import WorkspaceBounds
from tservice.sessions.input.journal import InputKind
from tservice.sessions.record.model import Session


@frozen
class Driving:
    """The rules, by what the accounts say now: a process outlives the rights that it was started
    with."""

    clis: ICliRegistry
    bounds: WorkspaceBounds

    def judge(self, session: Session, sender: Identity | None) -> None:
        """Make sure that whoever drives C{session} could still have it run.

        An admin drives those of others whatever became of their accounts.

        @param sender: C{None}: the service itself, in the owner's name.
        @raise ServiceError: 403: it takes a right that the account has no more, or the service
            would type for one that is gone or disabled; 422 naming
            C{osUser}: it is another one than the session's.
        """
        if sender is not None and sender.parent is not None:
            self._judge_agent(session)
        name = session.owner if sender is None else sender.username
        if not self.bounds.multiuser or name is None:
            return
        account = self.bounds.account(name)
        if sender is None and (account is None or not account.enabled):
            raise ServiceError(ErrorCode.FORBIDDEN, "the session's account is gone or disabled")
        if not session.owned and (account is None or not account.admin):
            # Nothing is known of what runs there, as when it was attached to (protocol-remote).
            raise _attached()
        if account is None or not account.granted:
            self.clis.check_grant(session.mode, session.params, session.env_overrides)
        if name == session.owner:
            self.bounds.judge(name, session.place)

    def judge_text(
        self, session: Session, sender: Identity | None, kind: InputKind, text: str
    ) -> None:
        """Make sure that C{text} has an agent run no command that nobody is asked about, unless
        the account has the grant to bypass permissions.

        @param sender: as for L{judge}.
        @raise ServiceError: 403 naming C{input}.
        """
        entry = self.clis.get(session.mode)
        if entry is None or entry.kind is CliKind.SHELL or self._is_granted(session, sender):
            return
        if kind is InputKind.PROMPT:
            self.clis.check_prompt(session.mode, text, "input", granted=False)
        elif entry.capabilities.submission.may_run_shell(text):
            # Also what is typed key by key: opencode takes the sign for the first key behind text
            # that it has not drawn yet.
            raise ServiceError(
                ErrorCode.FORBIDDEN,
                f"input: a key such as {entry.capabilities.submission.shell} or Ctrl-Y can begin a"
                " command, and needs the grant to bypass permissions; send the text as a prompt",
            )

    def _is_granted(self, session: Session, sender: Identity | None) -> bool:
        if sender is not None and sender.parent is not None:
            return False
        name = session.owner if sender is None else sender.username
        if not self.bounds.multiuser or name is None:
            return True
        account = self.bounds.account(name)
        return account is not None and account.granted

    def _judge_agent(self, session: Session) -> None:
        """An agent's own token has no grant, whoever is its owner and made the session."""
        if not session.owned:
            raise _attached()
        self.clis.check_grant(session.mode, session.params, session.env_overrides)


def _attached() -> ServiceError:
    return ServiceError(ErrorCode.FORBIDDEN, "an attached tmux session is for admins")
