"""Base classes of the models at the edge (wire 26, Requests and answers)."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Body(BaseModel):
    """A request body: unknown fields and loose types are refused."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=False
    )


class Query(BaseModel):
    """A query string: unknown parameters are ignored, values are parsed from text."""

    model_config = ConfigDict(
        extra="ignore", frozen=True, alias_generator=to_camel, populate_by_name=False
    )


class Answer(BaseModel):
    """A payload: camelCase on the wire, absent when C{None} is not a value of the field."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True
    )
