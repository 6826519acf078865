"""C{/api/openapi.json} and C{/api/docs}: the OpenAPI document, and a page generated from it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from attrs import frozen
from twisted.python.failure import Failure
from twisted.web.template import flattenString

from tservice.core.kernel.shared_work import SharedWork
from tservice.core.workers.worker_pool import IThreads
from tservice.http.docs.html_page import STYLESHEET, render_page
from tservice.http.docs.openapi import make_document
from tservice.http.envelope import ASK_AGAIN, dump_json
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, Operation, OperationCall, RawReply, ResponseStyle


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
