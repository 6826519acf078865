"""C{/api/openapi.json} and C{/api/docs}: the OpenAPI document, and a page generated from it.

The page holds no script and makes no requests to other hosts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from attrs import frozen
from twisted.python.failure import Failure
from twisted.web.template import Tag, flattenString, tags

from tservice.core.shared_work import SharedWork
from tservice.core.workers.worker_pool import IThreads
from tservice.http.docs.openapi import Schema, make_document
from tservice.http.envelope import ASK_AGAIN, dump_json
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, Operation, OperationCall, RawReply, ResponseStyle

STYLESHEET = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 62rem; padding: 1rem 1.5rem 4rem; overflow-wrap: anywhere; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid; }
details { border: 1px solid #8886; border-radius: 6px; margin: .4rem 0; padding: .4rem .8rem; }
summary { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 .6rem; cursor: pointer; }
summary::before { content: "\\25b8"; }
[open] > summary::before { content: "\\25be"; }
code, pre { font: 13px/1.5 ui-monospace, monospace; }
pre { overflow-x: auto; padding: .6rem; background: #8882; border-radius: 4px; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; vertical-align: top; padding: .2rem .8rem .2rem 0; }
td:first-child { overflow-wrap: normal; }
.method { flex: none; min-width: 4.2rem; font-weight: 700; }
.about { flex: 1 1 12rem; }
.access { flex: none; margin-left: auto; opacity: .7; }
"""


@frozen(kw_only=True)
class GeneratedDocs:
    """OpenAPI document and its HTML page."""

    json: bytes
    page: bytes


_DOCUMENTS = OperationFields(
    tag="Documentation",
    access=AccessRule.USER,
    scope_reason="Description of the API, for people and their tools.",
    style=ResponseStyle.RAW,
)


class ApiDocs:
    """Routes for the OpenAPI document of an operations table, which includes these routes."""

    def __init__(self, version: str, threads: IThreads, base: str = "") -> None:
        """@param version: the version of the service.
        @param threads: threads in which the document is generated; this takes some hundred
            milliseconds.
        @param base: the path under which a reverse proxy serves the service.
        """
        self._version, self._threads, self._base = version, threads, base
        self._operations: Sequence[Operation] = ()
        self._made: SharedWork[GeneratedDocs] | None = None

    def set_operations(self, operations: Sequence[Operation]) -> None:
        """Set the table to describe; the document is generated on the first request."""
        self._operations, self._made = tuple(operations), None

    @operation("GET", "/api/openapi.json", _DOCUMENTS)
    async def serve_openapi(self, call: OperationCall) -> RawReply:
        """Get this document."""
        made = await self._generate_once()
        return RawReply(content=made.json, headers=ASK_AGAIN)

    @operation("GET", "/api/docs", _DOCUMENTS, media_type="text/html")
    async def serve_page(self, call: OperationCall) -> RawReply:
        """Get this document as a page."""
        made = await self._generate_once()
        return RawReply(
            content=made.page, content_type="text/html; charset=utf-8", headers=ASK_AGAIN
        )

    async def _generate_once(self) -> GeneratedDocs:
        """Return the generated document; concurrent requests share the work.

        If the generation fails, the next request tries again.
        """
        made = self._made = self._made or SharedWork(self._generate_in_thread())
        try:
            return await made.wait_for_result()
        except Exception:
            if self._made is made:
                self._made = None
            raise

    async def _generate_in_thread(self) -> GeneratedDocs:
        work = partial(generate_docs, self._operations, self._version, self._base)
        made: GeneratedDocs = await self._threads.run(work)
        return made

    @operation("GET", "/api/docs.css", _DOCUMENTS, media_type="text/css")
    async def serve_stylesheet(self, call: OperationCall) -> RawReply:
        """Get the page's stylesheet."""
        return RawReply(
            content=STYLESHEET, content_type="text/css; charset=utf-8", headers=ASK_AGAIN
        )


def generate_docs(operations: Sequence[Operation], version: str, base: str) -> GeneratedDocs:
    """Generate the OpenAPI document of C{operations}, and its page."""
    found = make_document(operations, version, base)
    shown: list[bytes | Failure] = []
    # Rendering is synchronous, so the page is complete when this returns.
    flattenString(None, render_page(found)).addBoth(shown.append)
    if isinstance(shown[0], Failure):
        shown[0].raiseException()
    return GeneratedDocs(json=dump_json(found), page=b"<!doctype html>\n" + shown[0])


def render_page(found: Schema) -> Tag:
    """Return the HTML page of an OpenAPI document."""
    info = found["info"]
    sections = [_render_section(tag["name"], found) for tag in found["tags"]]
    return tags.html(
        tags.head(
            tags.meta(charset="utf-8"),
            tags.meta(name="viewport", content="width=device-width, initial-scale=1"),
            tags.title(f"{info['title']} API"),
            tags.link(rel="stylesheet", href="docs.css"),
        ),
        tags.body(
            tags.h1(f"{info['title']} {info['version']}"),
            tags.p(info["description"], " ", tags.a("openapi.json", href="openapi.json")),
            *sections,
            tags.h2("Schemas"),
            *(
                _render_schema(name, schema)
                for name, schema in found["components"]["schemas"].items()
            ),
        ),
        lang="en",
    )


def _render_section(tag: str, found: Schema) -> Tag:
    entries = [
        _render_entry(method, path, operation)
        for path, methods in found["paths"].items()
        for method, operation in methods.items()
        if tag in operation["tags"]
    ]
    return tags.section(tags.h2(tag), *entries)


def _render_entry(method: str, path: str, operation: Schema) -> Tag:
    return tags.details(
        tags.summary(
            tags.span(method.upper(), class_="method"),
            tags.code(path),
            tags.span(operation["summary"], class_="about"),
            tags.span(operation["x-access"], class_="access"),
        ),
        *_render_parameters(operation),
        *_render_body(operation),
        tags.table(
            *(
                tags.tr(tags.td(tags.code(status)), tags.td(answer["description"]))
                for status, answer in operation["responses"].items()
            )
        ),
        *_render_response(operation),
        id=operation["operationId"],
    )


def _render_parameters(operation: Schema) -> Iterator[Tag]:
    rows = [
        tags.tr(
            tags.td(tags.code(parameter["name"])),
            tags.td(parameter["in"], " (required)" if parameter["required"] else ""),
            tags.td(tags.code(_format_schema(parameter["schema"]))),
        )
        for parameter in operation.get("parameters", ())
    ]
    if rows:
        yield tags.table(*rows)


def _render_body(operation: Schema) -> Iterator[Tag]:
    for media in operation.get("requestBody", {}).get("content", {}).values():
        yield tags.p("Body: ", *_render_reference(media["schema"]))


def _render_response(operation: Schema) -> Iterator[Tag]:
    for media in operation["responses"].get("200", {}).get("content", {}).values():
        data = media["schema"].get("properties", {}).get("data", media["schema"])
        yield tags.p("Response: ", *_render_reference(data))


def _render_reference(schema: Schema) -> Iterator[Any]:
    """Yield a link to a shared schema, or the schema itself."""
    name = schema.get("$ref", "").rpartition("/")[2]
    yield tags.a(name, href=f"#{name}") if name else tags.code(_format_schema(schema))


def _render_schema(name: str, schema: Schema) -> Tag:
    return tags.details(
        tags.summary(tags.code(name)), tags.pre(_format_schema(schema, indent=True)), id=name
    )


def _format_schema(schema: Schema, indent: bool = False) -> str:
    shown = {key: value for key, value in schema.items() if key != "title"}
    return dump_json(shown, indent=2 if indent else None).decode()
