"""The page C{/api/docs}, generated from the OpenAPI document.

The page holds no script, so the policy of the service's pages stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from twisted.web.template import Tag, tags

from tservice.http.docs.openapi import Schema
from tservice.http.envelope import dump_json

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
