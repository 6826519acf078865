"""Errors that a caller may see, and the one mapping from error code to HTTP status."""

from __future__ import annotations

from enum import StrEnum


class ErrorCode(StrEnum):
    """The C{errorCode} of an error envelope (protocol-errors)."""

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
    """An error whose text and code are meant for the caller.

    @ivar code: decides the HTTP status by L{HTTP_STATUS}.
    @ivar message: one line; never holds a secret.
    """

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    @property
    def status(self) -> int:
        """The HTTP status that belongs to L{code}."""
        return HTTP_STATUS[self.code]


def invalid(field: str, rule: str) -> ServiceError:
    """A 400 that names the field and the rule it broke (wire, Conventions)."""
    return ServiceError(ErrorCode.INVALID_INPUT, f"{field}: {rule}")


def not_found(what: str) -> ServiceError:
    """A 404 for C{what}, for example C{Session 1b2c}."""
    return ServiceError(ErrorCode.NOT_FOUND, f"{what} not found")


def conflict(message: str) -> ServiceError:
    """A 409: the request does not fit the current state."""
    return ServiceError(ErrorCode.CONFLICT, message)


def failed(message: str) -> ServiceError:
    """A 422: well-formed, but it could not be done."""
    return ServiceError(ErrorCode.OPERATION_FAILED, message)


class StartError(SystemExit, Exception):
    """The service cannot start; the text is one line for the operator, without a secret.

    Being a C{SystemExit}, it ends the program with that line and exit status 1 instead of a
    traceback; being an C{Exception}, it is seen by what C{twistd} does on the way out (the pid
    file, the word to the process that waits for the daemon).
    """

    def __init__(self, line: str) -> None:
        super().__init__(f"tservice: {line}")
