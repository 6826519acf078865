"""OpenAPI 3.1 document that is generated from the operations table (protocol-openapi)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, TypeAdapter

from tservice.core.kernel.errors import HTTP_STATUS, ErrorCode
from tservice.http import envelope
from tservice.http.docs.examples import EXAMPLES
from tservice.http.docs.links import find_links
from tservice.http.docs.tags import TAGS
from tservice.http.operations import AccessRule, Operation, ResponseStyle
from tservice.http.routing import ANY
from tservice.http.security.page_key import HEADER, KEY_PREFIX, PROTOCOL

Schema = dict[str, Any]

EVENTS = "text/event-stream"
"""Default media type of an operation that streams."""

BYTES = "application/octet-stream"
"""Media type of an operation that streams a file."""

PARTIAL: Schema = {
    "206": {"description": "The requested range"},
    "304": {"description": "Not changed since the given ETag"},
    "416": {"description": "The range begins after the end of the file"},
}

_REF = "#/components/schemas/{model}"
_PARAMETER = re.compile(r"\{(\w+)(?::path)?\}")
_ANY_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")

ERROR: Schema = {
    "type": "object",
    "required": ["success", "error", "errorCode"],
    "properties": {
        "success": {"const": False},
        "error": {"type": "string"},
        "errorCode": {"enum": [code.value for code in ErrorCode]},
    },
}

SECURITY: Schema = {
    "basic": {"type": "http", "scheme": "basic"},
    "token": {"type": "http", "scheme": "bearer"},
    "cookie": {
        "type": "apiKey",
        "in": "cookie",
        "name": "service_session",
        "description": "Alone only for a program that got it by Basic authentication, without a"
        " browser's headers",
    },
    "pageKey": {
        "type": "apiKey",
        "in": "header",
        "name": HEADER,
        "description": "Belongs to the cookie that a browser or any login received: the key in the "
        f"login's response. In an upgrade it may also be the subprotocol {KEY_PREFIX}<key>, "
        f"offered in addition to {PROTOCOL}",
    },
    "hookSecret": {"type": "apiKey", "in": "header", "name": "X-Service-Hook-Secret"},
}

_BARE: Mapping[int, str] = {
    400: "Request that is not relayed: plain text",
    401: "Not signed in: plain text",
    403: "Host or origin not allowed: plain text",
    429: "Too many failed attempts: plain text, with Retry-After",
    502: "The other server does not respond: plain text",
    503: "Too many streams: plain text, with Retry-After",
}
"""Descriptions of the gate's responses, which have no envelope, by status (protocol-errors)."""

TARGET_TOO_LONG: Schema = {"414": {"description": "Request line longer than 16 KiB: no body"}}
"""Response of every route whose address contains text from the caller (protocol-errors)."""

_KEYWORDS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
}
"""JSON Schema keywords by the names that pydantic uses for fields with a preceding validator."""


def make_document(operations: Sequence[Operation], version: str, base: str = "") -> Schema:
    """Return the complete document.

    @param version: the program's version.
    @param base: the path under which a reverse proxy serves the service.
    """
    schemas = _SchemaRegistry(operations)
    names = {each.name: make_operation_id(each.method, each.path) for each in operations}
    found: dict[str, dict[str, Schema]] = {}
    for operation in operations:
        entry = found.setdefault(_PARAMETER.sub(r"{\1}", operation.path), {})
        for method in _ANY_METHODS if operation.method == ANY else (operation.method,):
            entry[method.lower()] = made = _describe_operation(operation, method, schemas)
            ahead = find_links(operation, operations, names)
            if ahead:
                made["responses"][str(operation.status)]["links"] = ahead
    shared = {name: schemas.shared[name] for name in _referenced_schemas(found, schemas.shared)}
    whole: Schema = {
        "openapi": "3.1.0",
        "info": {
            "title": "tservice",
            "version": version,
            "description": "Every /api path is also served as /api/v1.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": base or "/"}],
        "tags": [
            {"name": tag, "description": TAGS.get(tag, tag)}
            for tag in sorted({op.tag for op in operations}, key=str.lower)
        ],
        "paths": found,
        "components": {
            "schemas": {**shared, "Error": ERROR},
            "securitySchemes": SECURITY,
        },
    }
    spelled: Schema = _normalize_keywords(whole)
    return spelled


def _referenced_schemas(schema: Any, shared: Mapping[str, Schema]) -> list[str]:
    """Return the names of the shared schemas that C{schema} refers to, in order of reference.

    Schemas of queries are inlined, so they may refer to shared ones.
    """
    found: set[str] = set()
    ahead = _schema_names(schema)
    while ahead:
        name = ahead.pop()
        if name in shared and name not in found:
            found.add(name)
            ahead |= _schema_names(shared[name])
    return [name for name in shared if name in found]


def _schema_names(value: Any) -> set[str]:
    if isinstance(value, Mapping):
        own = {str(value["$ref"]).rpartition("/")[2]} if "$ref" in value else set()
        return own.union(*map(_schema_names, value.values()))
    return (
        set[str]().union(*map(_schema_names, value)) if isinstance(value, list | tuple) else set()
    )


def _normalize_keywords(value: Any) -> Any:
    """Return the schema C{value} with pydantic's names of limits replaced by JSON Schema
    keywords.
    """
    if isinstance(value, Mapping):
        return {
            _KEYWORDS.get(key, key) if isinstance(inner, int | float) else key: _normalize_keywords(
                inner
            )
            for key, inner in value.items()
        }
    return (
        [_normalize_keywords(inner) for inner in value]
        if isinstance(value, list | tuple)
        else value
    )


class _SchemaRegistry:
    """JSON schemas of every model in the table; each shared schema is defined once."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        self._adapters: dict[tuple[str, Any], TypeAdapter[Any]] = {}
        for operation in operations:
            for kind, model in (
                ("body", operation.body),
                ("query", operation.query),
                ("answer", operation.response_model),
            ):
                if model is not None:
                    self._adapters[kind, model] = TypeAdapter(model)
        found, shared = TypeAdapter.json_schemas(
            [(key, _schema_mode(key[0]), adapter) for key, adapter in self._adapters.items()],
            ref_template=_REF,
        )
        self._found: Mapping[Any, Schema] = {key: schema for (key, _), schema in found.items()}
        self.shared: Schema = shared.get("$defs", {})

    def get_schema(self, kind: str, model: Any) -> Schema:
        """Return the schema of a body, query or response."""
        return self._found[kind, model]

    def query_properties(
        self, model: type[BaseModel]
    ) -> tuple[Mapping[str, Schema], Sequence[str]]:
        """Return a query model's parameters, and the names of the required ones."""
        schema = self._resolve_reference(self.get_schema("query", model))
        return schema.get("properties", {}), schema.get("required", ())

    def _resolve_reference(self, schema: Schema) -> Schema:
        name = schema.get("$ref", "").rpartition("/")[2]
        return self.shared[name] if name else schema


def _schema_mode(kind: str) -> Any:
    return "serialization" if kind == "answer" else "validation"


def _describe_operation(operation: Operation, method: str, schemas: _SchemaRegistry) -> Schema:
    found: Schema = {
        "operationId": make_operation_id(method, operation.path),
        "summary": operation.summary,
        **_describe_token_rule(operation),
        "tags": [operation.tag],
        "responses": {**_success_responses(operation, schemas), **_failure_responses(operation)},
        "security": _security_requirements(operation),
        "x-access": operation.access.value,
    }
    if operation.deprecated is not None:
        found["deprecated"] = True
    parameters = _path_parameters(operation) + _query_parameters(operation, schemas)
    if parameters:
        found["parameters"] = parameters
    if operation.body is not None:
        content: Schema = {"schema": schemas.get_schema("body", operation.body)}
        example = EXAMPLES.get(operation.name)
        if example is not None:
            content["example"] = example
        found["requestBody"] = {
            "required": not operation.optional_body,
            "content": {"application/json": content},
        }
    elif operation.streams:
        found["requestBody"] = {
            "required": True,
            "content": {"multipart/form-data": {"schema": {"type": "object"}}},
        }
    return found


def _describe_token_rule(operation: Operation) -> Schema:
    """Return the schema extension that gives the reason why tokens may or may not call the
    operation.
    """
    if not operation.scope_reason:
        return {}
    scope = operation.scope
    who = "No token may call it." if scope is None else f"Token scope: {scope}."
    return {"description": f"{who} {operation.scope_reason}"}


def make_operation_id(method: str, path: str) -> str:
    """Return an operation's C{operationId}, from which client generators derive function names.

    >>> operation_id("GET", "/api/sessions/{id}/git-status")
    'getSessionsIdGitStatus'
    """
    words = re.findall(r"[A-Za-z0-9]+", path.removeprefix("/api"))
    return method.lower() + "".join(word[:1].upper() + word[1:] for word in words)


def _security_requirements(operation: Operation) -> list[Schema]:
    """Return the OpenAPI security requirements: kinds of authentication, and the token's scope.

    OpenAPI 3.1 lists scopes and roles in the same way.
    """
    access, scope = operation.access, operation.scope
    if access in (AccessRule.PUBLIC, AccessRule.CAPABILITY):
        return []
    user: list[Schema] = [{"basic": []}, {"cookie": [], "pageKey": []}, {"cookie": []}]
    if scope is not None:
        user.append({"token": [scope.value]})
    return [{"hookSecret": []}, *user] if access is AccessRule.HOOK else user


def _path_parameters(operation: Operation) -> list[Schema]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in _PARAMETER.findall(operation.path)
    ]


def _query_parameters(operation: Operation, schemas: _SchemaRegistry) -> list[Schema]:
    if operation.query is None:
        return []
    properties, required = schemas.query_properties(operation.query)
    return [
        {"name": name, "in": "query", "required": name in required, "schema": schema}
        for name, schema in properties.items()
    ]


def _success_responses(operation: Operation, schemas: _SchemaRegistry) -> Schema:
    if operation.style is ResponseStyle.WEBSOCKET:
        return {"101": {"description": "A WebSocket"}}
    if operation.status == 302:
        return {"302": {"description": "A redirect"}}
    if operation.style is ResponseStyle.STREAM:
        media = operation.media_type
        media, schema = (EVENTS if media == envelope.JSON else media), {"type": "string"}
    elif operation.style is ResponseStyle.RAW:
        media, schema = operation.media_type, {}
        if operation.response_model is not None:
            schema = schemas.get_schema("answer", operation.response_model)
    else:
        media, schema = "application/json", _envelope_schema(operation, schemas)
    found = {"200": {"description": "Success", "content": {media: {"schema": schema}}}}
    if operation.proxies_calls and operation.style is ResponseStyle.RAW:
        found["202"] = {"description": "Accepted; there is no response body"}
    return {**found, **PARTIAL} if media == BYTES else found


def _envelope_schema(operation: Operation, schemas: _SchemaRegistry) -> Schema:
    data: Schema = {"type": "object"}
    if operation.response_model is not None:
        data = schemas.get_schema("answer", operation.response_model)
    return {
        "type": "object",
        "required": ["success", "data"],
        "properties": {"success": {"const": True}, "data": data},
    }


def list_error_codes(operation: Operation) -> frozenset[ErrorCode]:
    """Return the error codes that the operation's fields imply, and those in
    C{operation.errors}.
    """
    codes = {ErrorCode.INTERNAL_ERROR, *operation.errors}
    if operation.body is not None or operation.has_no_body or operation.query is not None:
        codes.add(ErrorCode.INVALID_INPUT)
    if operation.body is not None or operation.method in ("POST", "PUT", "PATCH", ANY):
        codes.add(ErrorCode.PAYLOAD_TOO_LARGE)
    if operation.access is AccessRule.ADMIN:
        codes.add(ErrorCode.FORBIDDEN)
    if operation.access not in (AccessRule.PUBLIC, AccessRule.CAPABILITY):
        codes.add(ErrorCode.PASSWORD_CHANGE_REQUIRED)
    if "{" in operation.path:
        codes.add(ErrorCode.NOT_FOUND)
    return frozenset(codes)


def _failure_responses(operation: Operation) -> Schema:
    codes: dict[int, list[str]] = {}
    for code in sorted(list_error_codes(operation)):
        codes.setdefault(HTTP_STATUS[code], []).append(code.value)
    bare = {403}
    if operation.access not in (AccessRule.PUBLIC, AccessRule.CAPABILITY):
        bare |= {401, 429}
    if ErrorCode.UNAUTHORIZED in operation.errors:
        bare |= {401, 429}
        codes.pop(401, None)
    if operation.style is ResponseStyle.STREAM:
        bare.add(503)
    if operation.any_body:
        bare |= {400, 429, 502}
    if operation.style is ResponseStyle.WEBSOCKET:
        codes.setdefault(426, []).append(ErrorCode.INVALID_INPUT.value)
    found = {
        str(status): _failure_response(codes.get(status, []), status in bare, status)
        for status in sorted({*codes, *bare})
    }
    of_the_caller = operation.query is not None or "{" in operation.path
    return {**found, **TARGET_TOO_LONG} if of_the_caller else found


def _failure_response(codes: Sequence[str], bare: bool, status: int) -> Schema:
    content: Schema = {}
    words = list(codes)
    if codes:
        content["application/json"] = {"schema": {"$ref": "#/components/schemas/Error"}}
    if bare:
        content["text/plain"] = {"schema": {"type": "string"}}
        words.append(_BARE[status])
    return {"description": "; ".join(words), "content": content}
