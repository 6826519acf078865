"""Operations that are declared on their handlers."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tests.unit.http.sample_operations import PageQuery, SampleSizeAnswer, SizeBody
from tests.unit.http.site_driver import ApiHarness
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.http.operation_decorator import OperationFields, collect_operations, operation
from tservice.http.operations import AccessRule, OperationCall, RawReply, ResponseStyle, Scope


def _require_open(routes: SampleRoutes) -> None:
    if not routes.is_open:
        raise ServiceError(ErrorCode.FORBIDDEN, "samples are switched off")


_SHARED = OperationFields(
    tag="Samples",
    access=AccessRule.USER,
    scope=Scope.GIT,
    errors=(ErrorCode.NOT_FOUND,),
)


class SampleRoutes:
    is_open = True

    @operation("GET", "/api/size", _SHARED)
    async def get_size(self, call: OperationCall, query: PageQuery) -> SampleSizeAnswer:
        """Get the size
        of the sample.

        @raise ServiceError: not in the summary.
        """
        return SampleSizeAnswer(seen_cols=query.limit)

    @operation("PUT", "/api/size", _SHARED, scope=None, errors=(ErrorCode.CONFLICT,))
    @operation("POST", "/api/size", _SHARED, allowed=_require_open)
    async def set_size(
        self, call: OperationCall, body: SizeBody, query: PageQuery
    ) -> SampleSizeAnswer:
        """Set the size."""
        return SampleSizeAnswer(seen_cols=body.cols + query.limit)

    @operation("GET", "/api/text", _SHARED, style=ResponseStyle.RAW)
    async def get_text(self, call: OperationCall) -> RawReply:
        """Get a text."""
        return RawReply(content=b"text", content_type="text/plain")

    @operation("GET", "/api/later", _SHARED, response_model=SampleSizeAnswer)
    async def get_later(self, call: OperationCall) -> RawReply:
        """Get the size, with a header."""
        return RawReply(content=SampleSizeAnswer(seen_cols=1), headers={"X-A": "b"})


class UnclearRoutes:
    @operation("GET", "/api/unclear", _SHARED)
    async def get_it(self, call: OperationCall) -> object:
        """Get it."""
        return None


class PartlyRawRoutes:
    @operation("GET", "/api/partly", _SHARED)
    async def get_it(self, call: OperationCall) -> SampleSizeAnswer | RawReply:
        """Get it."""
        return SampleSizeAnswer(seen_cols=1)


class UnknownParameterRoutes:
    @operation("GET", "/api/unknown", _SHARED)
    async def get_it(self, call: OperationCall, data: SizeBody) -> SampleSizeAnswer:
        """Get it."""
        return SampleSizeAnswer(seen_cols=data.cols)


class OperationDecoratorTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.routes = SampleRoutes()
        self.table = {each.name: each for each in collect_operations(self.routes)}

    def test_signature_gives_the_models(self) -> None:
        found = self.table["PUT /api/size"]
        models = (found.query, found.body, found.response_model)
        self.assertEqual((PageQuery, SizeBody, SampleSizeAnswer), models)
        self.assertIsNone(self.table["GET /api/size"].body)

    def test_raw_response_has_the_given_model_or_none(self) -> None:
        self.assertIsNone(self.table["GET /api/text"].response_model)
        self.assertIs(SampleSizeAnswer, self.table["GET /api/later"].response_model)

    def test_first_paragraph_of_the_docstring_is_the_summary(self) -> None:
        self.assertEqual("Get the size of the sample", self.table["GET /api/size"].summary)

    def test_one_handler_serves_several_operations_in_their_order(self) -> None:
        names = ["GET /api/size", "PUT /api/size", "POST /api/size", "GET /api/text"]
        self.assertEqual([*names, "GET /api/later"], list(self.table))

    def test_own_fields_override_shared_fields_and_errors_add_up(self) -> None:
        own, plain = self.table["PUT /api/size"], self.table["POST /api/size"]
        self.assertEqual((None, Scope.GIT), (own.scope, plain.scope))
        self.assertEqual((ErrorCode.NOT_FOUND, ErrorCode.CONFLICT), own.errors)
        self.assertEqual((ErrorCode.NOT_FOUND,), plain.errors)

    def test_handler_receives_validated_models(self) -> None:
        api = ApiHarness(collect_operations(self.routes))
        self.assertEqual({"seenCols": 3}, api.get("/api/size?limit=3").data)
        self.assertEqual({"seenCols": 7}, api.request("PUT", "/api/size?limit=3", {"cols": 4}).data)
        self.assertEqual(400, api.request("PUT", "/api/size", {"cols": "four"}).status)

    def test_switched_off_feature_is_refused(self) -> None:
        check = self.table["POST /api/size"].allowed
        assert check is not None
        check()
        self.routes.is_open = False
        self.assertRaises(ServiceError, check)

    def test_handler_without_a_response_type_is_an_error(self) -> None:
        for routes in (UnclearRoutes(), PartlyRawRoutes()):
            error = self.assertRaises(TypeError, collect_operations, routes)
            self.assertIn(f"{type(routes).__name__}.get_it: name the response", str(error))

    def test_unknown_parameter_of_a_handler_is_an_error(self) -> None:
        error = self.assertRaises(TypeError, collect_operations, UnknownParameterRoutes())
        self.assertIn("only call, query and body", str(error))
