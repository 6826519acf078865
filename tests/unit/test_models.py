"""Models of requests, answers and events, which are built when they are first used."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel
from twisted.trial.unittest import SynchronousTestCase

import tservice.tap.assembly  # noqa: F401  # which imports every model of the service


def models(of: type[BaseModel] = BaseModel) -> Iterator[type[BaseModel]]:
    """Every model of the service that is imported."""
    for each in of.__subclasses__():
        yield from models(each)
        if each.__module__.startswith("tservice."):
            yield each


class PydanticModelTests(SynchronousTestCase):
    """None of them may turn out to be broken when somebody first uses it."""

    def test_every_model_can_be_built(self) -> None:
        found = list(models())
        self.assertGreater(len(found), 300)
        for each in found:
            # An error that it raises names the field.
            each.model_rebuild()
            self.assertTrue(each.__pydantic_complete__, each)
