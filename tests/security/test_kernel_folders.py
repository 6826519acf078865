"""Folders where nobody works: what belongs to the kernel, by whatever way."""

from __future__ import annotations

import json
from typing import Any

from tests.security.attack_harness import AttackCase
from tests.security.harness import SecurityAnswer
from tests.security.matrix_rows import JOB

PLACES = ("/proc", "/proc/self", "/proc/self/cwd", "//proc/1", "/sys", "/dev", "/dev/shm")


class KernelFolderLocationTests(AttackCase):
    """By an admin, who may work everywhere else, and by an account with a workspace of its own."""

    def assert_refused(self, answer: SecurityAnswer, named: str) -> None:
        self.assertEqual((400, "INVALID_INPUT"), (answer.status, answer.error), answer.body)
        self.assertTrue(json.loads(answer.body)["error"].startswith(f"{named}: "), answer.body)

    def places(self, who: str) -> tuple[str, ...]:
        own = self.world.cases(who)
        links = {"self": "/proc/self/cwd", "shm": "/dev/shm", "chain": "self"}
        for name, target in links.items():
            if not (own / name).is_symlink():
                (own / name).symlink_to(target)
        return (*PLACES, *(str(own / name) for name in links), f"{own}/self/x")

    def test_session_in_a_kernel_folder_is_refused(self) -> None:
        for who in ("root", "ann"):
            for place in self.places(who):
                body = {"mode": "shell", "workingDir": place}
                answer = self.ask("POST", "/api/sessions", body, headers=self.cookie(who))
                self.assert_refused(answer, "workingDir")
        self.assertNoEffect()

    def test_job_in_a_kernel_folder_is_refused(self) -> None:
        job: dict[str, Any] = {**JOB, "agentType": "shell"}
        for who in ("root", "ann"):
            own = str(self.world.cases(who))
            made = self.world.good(who, "POST", "/api/cron/jobs", {**job, "workingDir": own})
            path = f"/api/cron/jobs/{made['job']['id']}"
            for place in self.places(who):
                wrong = {"workingDir": place}
                for method, where, body in (
                    ("POST", "/api/cron/jobs", {**job, **wrong}),
                    ("POST", "/api/cron/preview", {**job, **wrong}),
                    ("PUT", path, wrong),
                ):
                    answer = self.ask(method, where, body, headers=self.cookie(who))
                    self.assert_refused(answer, "workingDir")

    def test_case_linked_to_a_kernel_folder_is_refused(self) -> None:
        """A case that is a link; the folder is made by the account itself."""
        for who in ("root", "ann"):
            self.places(who)
            for name in ("self", "shm", "chain"):
                for path in ("/api/sessions", "/api/quick-start"):
                    body = {"mode": "shell", "caseName": name}
                    answer = self.ask("POST", path, body, headers=self.cookie(who))
                    self.assert_refused(answer, "caseName")
        self.assertNoEffect()

    def test_default_folder_in_a_kernel_folder_is_refused(self) -> None:
        self.world.good("root", "PUT", "/api/settings", {"defaultWorkingDir": "/proc/self"})
        answer = self.ask("POST", "/api/sessions", {"mode": "shell"}, headers=self.cookie())
        self.assert_refused(answer, "workingDir")

    def test_folder_replaced_by_a_link_before_the_start_is_refused(self) -> None:
        place = self.world.cases("ann") / "turned"
        place.mkdir()
        body = {"mode": "shell", "workingDir": str(place)}
        made = self.world.good("ann", "POST", "/api/sessions", body)["session"]["id"]
        place.rmdir()
        place.symlink_to("/proc/self/cwd")
        answer = self.ask("POST", f"/api/sessions/{made}/start", headers=self.cookie("ann"))
        self.assertEqual((422, "OPERATION_FAILED"), (answer.status, answer.error))
        self.assertNotIn(made, self.world.host.panes)
