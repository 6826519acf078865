"""Steps of the tables of containers."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve

from tests.unit.store.story_steps import StoryHarness, StoryStep
from tservice.containers.model import ContainerCase, ContainerHost, EngineKind
from tservice.containers.store import ContainerStore


def tell_containers(world: StoryHarness) -> Sequence[StoryStep]:
    store = ContainerStore(world.database, lambda: "s")
    host = ContainerHost(id="h", label="H", engine=EngineKind.PODMAN, image="i")
    case = ContainerCase(owner="ann", name="a", host_id="h", container="c", path="/a")
    return [
        StoryStep(name="named", do=store.service_id),
        StoryStep(name="host", do=lambda: store.save_host(host)),
        StoryStep(name="other", do=lambda: store.save_host(evolve(host, id="g"))),
        StoryStep(
            name="changed", do=lambda: store.save_host(evolve(host, label="I")), needs="host"
        ),
        StoryStep(name="case", do=lambda: store.save_case(case), needs="host"),
        StoryStep(name="forgotten", do=lambda: store.delete_case("c"), owed=True, needs="case"),
        StoryStep(name="removed", do=lambda: store.delete_host("g"), needs="other"),
        StoryStep(name="bridge", do=lambda: store.save_bridge(EngineKind.PODMAN, "10.0.0.1", 5)),
    ]
