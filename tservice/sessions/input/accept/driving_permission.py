"""Permission to drive a running program: to type into it and answer its dialogs
(protocol-driving).
"""

from __future__ import annotations

from attrs import frozen

from tservice.clis.interfaces import CliKind, ICliRegistry
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.locations.workspace_bounds import WorkspaceBounds
from tservice.sessions.input.entry import InputKind
from tservice.sessions.record.model import Session


@frozen
class DrivingPermission:
    """Checks for the permission to drive a program, by the current state of the account.

    A program may outlive the permission with which it was started.
    """

    clis: ICliRegistry
    bounds: WorkspaceBounds

    def check_sender(self, session: Session, sender: Identity | None) -> None:
        """Check that the account of C{sender} could still start the program that runs in
        C{session}.

        An admin may drive the sessions of other users regardless of their accounts.

        @param sender: the identity that types; C{None}: the service itself, on behalf of the owner.
        @raise ServiceError: 403: the account lost a required permission, or the service would type
            for an account that is deleted or disabled; 422 naming C{osUser}: the account's OS user
            is not the session's.
        """
        if sender is not None and sender.parent is not None:
            self._check_agent_token(session)
        name = session.owner if sender is None else sender.username
        if not self.bounds.multiuser or name is None:
            return
        account = self.bounds.account(name)
        if sender is None and (account is None or not account.is_enabled):
            raise ServiceError(ErrorCode.FORBIDDEN, "the session's account is gone or disabled")
        if not session.is_owned and (account is None or not account.is_admin):
            # The program there is unknown, so the rule of attaching applies (protocol-remote).
            raise _attached_session_error()
        if account is None or not account.may_bypass_permissions:
            self.clis.check_needs_no_grant(session.mode, session.params, session.env_overrides)
        if name == session.owner:
            self.bounds.check_os_user(name, session.location_id)

    def check_text_permission(
        self, session: Session, sender: Identity | None, kind: InputKind, text: str
    ) -> None:
        """Check that C{text} does not make an agent run a command without confirmation.

        An account with the grant to bypass permissions may do this.

        @param sender: as for L{check_sender}.
        @raise ServiceError: 403 naming C{input}.
        """
        entry = self.clis.get_entry(session.mode)
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
        return account is not None and account.may_bypass_permissions

    def _check_agent_token(self, session: Session) -> None:
        """Check the session for an agent's own token, which never has the grant to bypass
        permissions.

        The permissions of the token's owner do not matter.
        """
        if not session.is_owned:
            raise _attached_session_error()
        self.clis.check_needs_no_grant(session.mode, session.params, session.env_overrides)


def _attached_session_error() -> ServiceError:
    return ServiceError(ErrorCode.FORBIDDEN, "Only admins may type into an attached tmux session")
