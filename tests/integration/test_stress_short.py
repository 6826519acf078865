"""The long proofs of C{make stress}, in their short seeded form."""

from __future__ import annotations

import pytest
from twisted.trial.unittest import SkipTest, SynchronousTestCase

from tests.integration.mount_namespace import mount_obstacle
from tests.integration.small_disk import TRIAL
from tests.run_figures import report_figure
from tests.stress import (
    blast_radius,
    canaries,
    checks,
    client_cuts,
    cron_kill,
    disk_kill,
    endings,
    file_races,
    flood_exact,
    input_kill,
    restore_kill,
    socket_cuts,
)

pytestmark = pytest.mark.extended


@pytest.mark.long(minutes=4)
class ShortProofs(SynchronousTestCase):
    """Each raises when its promise is broken."""

    def test_checks_end_and_repeat_nothing(self) -> None:
        figures = checks.run(turns=4, seed=1, kills=0)
        self.assertTrue(figures.clean, figures)
        self.assertGreater(figures.red_at_first, 0)

    def test_inputs_run_once_over_daemon_kills(self) -> None:
        figures = input_kill.run(kills=6, seed=11)
        self.assertGreater(int(str(figures["inputs"])), 5)

    def test_jobs_fire_once_over_daemon_kills(self) -> None:
        figures = cron_kill.run(kills=6, seed=11)
        self.assertEqual((6, {"prompt_sent": 6}), (figures["jobs"], figures["ended"]))

    def test_sessions_come_back_once_over_daemon_kills(self) -> None:
        figures = restore_kill.run(kills=2, seed=11)
        self.assertEqual(2, figures["kills"])

    def test_no_output_is_lost_over_socket_cuts(self) -> None:
        figures = socket_cuts.run(cuts=25, seed=11)
        self.assertGreater(figures["resumed"], 0)
        self.assertGreater(figures["snapshots"], 0)

    def test_python_client_types_once_over_connection_cuts(self) -> None:
        figures = client_cuts.run(sends=200, seed=11)
        self.assertGreater(figures["cuts"], 30)
        self.assertGreater(figures["found typed already"], 5)

    def test_mux_fault_costs_only_one_session(self) -> None:
        self.assertEqual(4, len(blast_radius.run(rounds=1, seed=11)))

    def test_no_user_receives_data_of_another(self) -> None:
        figures = canaries.run(requests=1500, seed=11)
        for seen in ("told an admin", "bytes of events", "by tokens", "turns"):
            self.assertGreater(int(str(figures[seen])), 0, seen)

    def test_changes_on_a_full_disk_outlive_kills(self) -> None:
        why = mount_obstacle(*TRIAL)
        if why is not None:
            report_figure(f"kills on a full disk: not shown, {why}")
            raise SkipTest(why)
        figures = disk_kill.run(kills=4, seed=11)
        self.assertEqual(4, figures["kills"])
        for seen in ("changes", "refused", "held"):
            self.assertGreater(int(str(figures[seen])), 0, seen)

    def test_shell_jobs_end_with_their_session(self) -> None:
        right = {"sessions": 4, "ran_on": 0, "lost": 0, "untold": 0}
        for shell, figures in endings.run(count=4, seed=11).items():
            self.assertEqual(right, figures, shell)

    def test_flood_of_output_arrives_to_the_byte(self) -> None:
        self.assertLess(5_000_000, int(str(flood_exact.run(megabytes=5)["bytes"])))

    def test_swapped_path_never_leads_out_of_the_folder(self) -> None:
        figures = file_races.run(rounds=2000, seed=11)
        self.assertEqual((2000, 0), (figures["rounds"], figures["outside"]))
        self.assertGreater(int(str(figures["FORBIDDEN"])), 0)
        self.assertGreater(int(str(figures["went through"])), 100)
