"""Errors that callers may see, and the table that maps each error code to an HTTP status."""

from __future__ import annotations

from enum import StrEnum


class ErrorCode(StrEnum):
    """C{errorCode} of an error envelope (protocol-errors)."""

    INVALID_INPUT = "INVALID_INPUT"
    UNAUTHORIZED = "UNAUTHORIZED"
    FORBIDDEN = "FORBIDDEN"
    PASSWORD_CHANGE_REQUIRED = "PASSWORD_CHANGE_REQUIRED"  # noqa: S105
    NOT_FOUND = "NOT_FOUND"
    USER_NOT_FOUND = "USER_NOT_FOUND"
    SESSION_BUSY = "SESSION_BUSY"
    CONFLICT = "CONFLICT"
    ALREADY_EXISTS = "ALREADY_EXISTS"
    USER_EXISTS = "USER_EXISTS"
    LAST_ADMIN = "LAST_ADMIN"
    PAYLOAD_TOO_LARGE = "PAYLOAD_TOO_LARGE"
    OPERATION_FAILED = "OPERATION_FAILED"
    RATE_LIMITED = "RATE_LIMITED"
    INTERNAL_ERROR = "INTERNAL_ERROR"


HTTP_STATUS: dict[ErrorCode, int] = {
    ErrorCode.INVALID_INPUT: 400,
    ErrorCode.UNAUTHORIZED: 401,
    ErrorCode.FORBIDDEN: 403,
    ErrorCode.PASSWORD_CHANGE_REQUIRED: 403,
    ErrorCode.NOT_FOUND: 404,
    ErrorCode.USER_NOT_FOUND: 404,
    ErrorCode.SESSION_BUSY: 409,
    ErrorCode.CONFLICT: 409,
    ErrorCode.ALREADY_EXISTS: 409,
    ErrorCode.USER_EXISTS: 409,
    ErrorCode.LAST_ADMIN: 409,
    ErrorCode.PAYLOAD_TOO_LARGE: 413,
    ErrorCode.OPERATION_FAILED: 422,
    ErrorCode.RATE_LIMITED: 429,
    ErrorCode.INTERNAL_ERROR: 500,
}


class ServiceError(Exception):
    """Error whose text and code are meant for the caller.

    @ivar code: the error code, which determines the HTTP status by L{HTTP_STATUS}.
    @ivar message: one line of text that never holds a secret.
    """

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    @property
    def status(self) -> int:
        """HTTP status that belongs to L{code}."""
        return HTTP_STATUS[self.code]


def make_field_error(field: str, rule: str) -> ServiceError:
    """Return a 400 error that names the field and the rule that it broke (wire, Conventions)."""
    return ServiceError(ErrorCode.INVALID_INPUT, f"{field}: {rule}")


def make_not_found_error(what: str) -> ServiceError:
    """Return a 404 error for C{what}, for example C{Session 1b2c}."""
    return ServiceError(ErrorCode.NOT_FOUND, f"{what} not found")


def make_conflict_error(message: str) -> ServiceError:
    """Return a 409 error: the current state does not allow the request."""
    return ServiceError(ErrorCode.CONFLICT, message)


def make_failure_error(message: str) -> ServiceError:
    """Return a 422 error: the request was valid, but the operation failed."""
    return ServiceError(ErrorCode.OPERATION_FAILED, message)


class StartError(SystemExit, Exception):
    """Failure to start the service; the text is one line for the operator, without a secret.

    As a C{SystemExit} it ends the program with that line and exit status 1 instead of a traceback.
    As an C{Exception} it passes through the error handling of C{twistd}, which removes the pid file
    and notifies the waiting parent process.
    """

    def __init__(self, line: str) -> None:
        super().__init__(f"tservice: {line}")
