"""Cases with containers, by the real daemon: one suite on both engines (protocol-containers)."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import partial
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from tests.agents.netns import dead_proxy
from tests.agents.recipes import RunLocation, claude
from tests.agents.stub_model import StubProcess
from tests.integration.containers import agent
from tests.integration.containers.case_harness import IMAGE, SECRET, USER, CaseTestCase, own_by
from tests.integration.containers.engines import DockerEngine
from tests.integration.harness import job_in
from tests.waiting import PATIENCE, SettledCondition, wait_until


@pytest.mark.long(minutes=3)
class PodmanCaseTests(CaseTestCase):
    """With podman."""

    @classmethod
    def setUpClass(cls) -> None:
        # Where the engine is there is no network.
        agent.find_installed_agent()
        super().setUpClass()

    def no_worktrees(self, case: str, folder: Path) -> None:
        """None is made: what is in there could have git run it out here."""
        worktree = {"mode": "shell", "caseName": case, "worktree": {"branch": "b"}, "start": True}
        self.refused("POST", "/api/sessions", worktree, 422)
        linked = {"name": f"over-{case}", "path": str(folder)}
        self.ask("POST", "/api/cases/link", linked)
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
        for each in (case, f"over-{case}"):
            refused = self.refused("POST", f"/api/cases/{each}/worktree", {"branch": "b"}, 422)
            self.assertIn("in a container", refused)
        shutil.rmtree(folder / ".git")

    def test_container_session_works_and_outlives_the_service(self) -> None:
        """Typed once, its files the workspace's owner's, its secrets nobody's, its fence whole; it
        goes on when the service is started anew.
        """
        case = self.case()
        folder = self.daemon.folder / case
        session = self.session(case)
        self.type(session, "touch made; echo x >> once; echo I-$(id -u)-$PWD-$TOLD_ALONE", 1)
        self.until_shown(session, f"I-{USER}-/workspace-{SECRET}")
        again = self.type(session, "touch made; echo x >> once; echo I", 1)
        self.assertTrue(again["duplicate"], again)
        self.assertNotIn(SECRET, everything_on_command_lines())
        self.type(
            session,
            "while read a b; do case $a in Cap*|NoNew*) echo =$a$b=;; esac; done "
            "< /proc/self/status; cat /home/agent/.claude/.credentials.json",
            2,
        )
        self.until_shown(session, "=NoNewPrivs:1=")
        self.assertEqual(
            (USER, "x\n"),
            (folder.joinpath("made").stat().st_uid, folder.joinpath("once").read_text()),
        )
        shown = self.screen(session)
        for name in ("Inh", "Prm", "Eff", "Bnd", "Amb"):
            self.assertIn(f"=Cap{name}:{'0' * 16}=", shown)
        found = self.told(session)
        self.assertEqual(
            ("container", str(folder), False),
            (found["location"], found["workingDir"], found["hooksAvailable"]),
        )
        git = self.ask("GET", f"/api/sessions/{session}/git-status")
        self.assertEqual(("unsupported", "docker"), (git["state"], git["reason"]))
        self.no_worktrees(case, folder)
        tree = self.ask("GET", f"/api/sessions/{session}/files")["tree"]
        self.assertEqual({"made", "once"}, {each["name"] for each in tree})
        shown = self.ask("GET", f"/api/cases/{case}/container")
        self.assertEqual(
            ("running", {"memory": 64 << 20, "cpus": 1.0, "pids": 64}),
            (shown["state"], shown["limits"]),
        )
        self.assertGreater(shown["usage"]["memory"], 0)
        self.daemon.restart()
        wait_until("its pane", lambda: self.told(session)["pid"])
        self.type(session, "echo and-$((6*7))", 3)
        self.until_shown(session, "and-42")
        self.assertEqual(found["pid"], self.told(session)["pid"])
        self.assertIn(
            "end it first", self.refused("POST", f"/api/cases/{case}/container/recreate", {}, 409)
        )
        self.ask("DELETE", f"/api/sessions/{session}")
        self.assertEqual(
            "running", self.ask("POST", f"/api/cases/{case}/container/recreate", {})["state"]
        )
        self.ask("DELETE", f"/api/cases/{case}")
        self.assertNotIn(case, self.engine.run("ps", "--all", "--format", "{{.Names}}"))
        self.assertTrue(folder.joinpath("made").exists())
        self.assertFalse((self.daemon.data / "containers" / f"service-case-{case}").exists())

    def test_hooks_of_a_container_arrive_over_the_bridge(self) -> None:
        """With a container's own secret, for its own sessions, before and after a restart."""
        self.ask("POST", "/api/container-hosts", self.host("Wired", IMAGE, network="bridge"))
        one, other = (self.session(self.case("wired")) for _ in range(2))
        post = (
            "hook() { IFS= read -r s < $SERVICE_HOOK_SECRET_FILE; u=${SERVICE_API_URL#http://}; "
            'b="{\\"event\\":\\"stop\\",\\"sessionId\\":\\"$1\\"}"; '
            "exec 3<>/dev/tcp/${u%:*}/${u#*:}; "
            "printf 'POST /api/hook-event HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n"
            "X-Service-Hook-Secret: %s\\r\\nContent-Type: application/json\\r\\n"
            'Content-Length: %d\\r\\n\\r\\n%s\' "$s" ${#b} "$b" >&3; read -r a <&3; '
            'echo "=$2:$a="; }'
        )
        self.type(one, "bash", 1)
        self.type(one, post, 2)
        self.type(one, f"hook {one} own; hook {other} another", 3)
        self.until_shown(one, "=another:HTTP/1.1 404 Not Found")
        self.assertIn("=own:HTTP/1.1 200 OK", self.screen(one))
        row = self.bridge()
        url = row["path"]
        self.assertEqual("ok", row["status"], row)
        self.daemon.restart()
        wait_until("its pane", lambda: self.told(one)["pid"])
        # It listens once the engine has told where, which the start does not wait for.
        wait_until("the bridge", lambda: self.bridge()["status"] == "ok", told=self.bridge)
        self.type(one, f"hook {one} later", 4)
        self.until_shown(one, "=later:HTTP/1.1 200 OK")
        for path, status in (("/api/hook-event", 401), ("/api/sessions", 404), ("/", 404)):
            with self.assertRaises(HTTPError) as refused:
                urlopen(url + path, data=b"{}", timeout=PATIENCE)
            self.assertEqual(status, refused.exception.code, path)
            refused.exception.close()

    def bridge(self) -> Any:
        """The doctor's row on the one of the engine."""
        rows = self.ask("GET", "/api/doctor?category=core")["tools"]
        return next(row for row in rows if row["id"] == f"bridge-{self.kind.name}")

    def test_agent_in_a_container_asks_and_is_allowed(self) -> None:
        """Claude Code in there: a prompt, its dialog, the inbox, and the hook at the end."""
        room = {"memory": "2g", "cpus": 2, "pids": 256}
        host = self.host("Agents", IMAGE, network="bridge", resources=room)
        self.ask("POST", "/api/container-hosts", host)
        name = "agents"
        home = self.daemon.data / f"containers/service-case-{name}/home"
        agent.put_into(home)
        folder = self.daemon.folder / self.case("agents", name)
        address = self.engine.gateway(f"service-case-{name}")
        with StubProcess(address) as stub:
            place = RunLocation(home=home, work=Path("/workspace"), url=stub.url)
            dead = {name: url for name, url in dead_proxy().items() if name.isupper()}
            told = {**claude(place, trusted=True).env, **dead, "NO_PROXY": address}
            own_by(USER, home)
            body = {
                "mode": "primary",
                "caseName": name,
                "start": True,
                "params": {"permissionMode": "default"},
                "envOverrides": told,
            }
            session = str(self.ask("POST", "/api/sessions", body)["session"]["id"])
            self.assertTrue(self.told(session)["hooksAvailable"])
            self.prompt(session, "RUN: touch made.txt", "blocked")
            [inbox] = wait_until("its dialog", self.asked)
            self.assertFalse((folder / "made.txt").exists())
            self.daemon.answer_item(inbox, action="approve").data()
            wait_until("the file", (folder / "made.txt").exists)
            wait_until("the end of the turn", lambda: stub.turns()[0].ended)
            wait_until("its hook", lambda: self.told(session)["status"] == "idle")
            self.assertEqual(USER, (folder / "made.txt").stat().st_uid)
            self.assertEqual("stop", self.prompt(session, "SAY: hello", "stop"))
            # The stop may have been the first turn's, if its hook came late.
            both = ["RUN: touch made.txt", "SAY: hello"]
            wait_until("both turns", lambda: [turn.prompt for turn in stub.turns()] == both)
            self.ask("DELETE", f"/api/sessions/{session}")

    def prompt(self, session: str, text: str, wait: str) -> str:
        """Type a prompt; the signal that came."""
        body = {"input": f"{text}\r", "wait": wait, "waitTimeout": 60_000}
        path = f"/api/sessions/{session}/input"
        found = self.daemon.request("POST", path, body, patience=2 * PATIENCE).data()["wait"]
        self.assertFalse(found["timedOut"], self.screen(session))
        return str(found["signal"])

    def asked(self) -> list[dict[str, Any]]:
        """What the inbox holds, once the options were read."""
        items = self.ask("GET", "/api/approvals")["approvals"]
        return [item for item in items if item.get("options")]

    def test_reason_of_the_container_end_is_reported(self) -> None:
        case = self.case()
        box, session = f"service-case-{case}", self.session(case)
        self.until_shown(session, "$ ")
        # Docker never unpauses a container that was paused while a command began in it.
        running = SettledCondition(lambda: self.engine.processes(box), 2)
        wait_until("the commands of the session's start to end", running)
        self.engine.run("pause", box)
        wait_until("the pause", lambda: "paused" in self.told(session).get("statusReason", ""))
        self.assertEqual("idle", self.told(session)["status"])
        self.engine.run("unpause", box)
        wait_until("its end", lambda: "paused" not in self.told(session).get("statusReason", ""))
        self.type(session, "exec sort /dev/zero", 1)
        self.until_reason(session, "oom-killed")
        self.ask("POST", f"/api/sessions/{session}/start", {})
        self.engine.run("kill", box)
        self.until_reason(session, "container-killed")
        self.assertEqual("exited", self.ask("GET", f"/api/cases/{case}/container")["state"])
        self.ask("POST", f"/api/sessions/{session}/start", {})
        self.engine.run("stop", box)
        self.until_reason(session, "container-stopped")
        self.ask("POST", f"/api/sessions/{session}/start", {})
        self.engine.run("rm", "--force", box)
        self.until_reason(session, "container-removed")
        self.ask("POST", f"/api/sessions/{session}/start", {})
        self.type(session, "echo back-$((6*7))", 2)
        self.until_shown(session, "back-42")

    def test_replaced_workspace_folder_is_not_mounted(self) -> None:
        """After it was judged, and before the engine comes to mount it: on a new container, and on
        one that is started again.
        """
        case = self.case()
        folder = self.daemon.folder / case
        own, foreign = folder.with_suffix(".own"), folder.with_suffix(".foreign")
        foreign.mkdir()
        foreign.joinpath("secret").write_text("of somebody else")
        session = {"mode": "shell", "caseName": case, "start": True}
        for path, body, words in (
            (f"/api/cases/{case}/container/recreate", {}, "create"),
            (f"/api/cases/{case}/container/recreate", {}, "start"),
            ("/api/sessions", session, "start"),
        ):
            exchange = f"mv {folder} {own}; ln -s {foreign} {folder}"
            self.meddling.write_text(f'[ "$1" != {words} ] || {{ {exchange}; }}\n')
            said = self.refused("POST", path, body, 422)
            self.assertIn(f"the workspace {folder} is not the folder that the container", said)
            self.meddling.unlink()
            folder.unlink()
            own.rename(folder)
            state = self.ask("GET", f"/api/cases/{case}/container")["state"]
            self.assertEqual("exited", state, words)
        session_id = self.session(case)
        self.type(session_id, "touch made; ls", 1)
        wait_until("its own folder", folder.joinpath("made").exists)
        self.assertFalse((foreign / "made").exists())

    def test_output_before_the_answer_of_exec_is_skipped(self) -> None:
        noise = "echo Welcome; echo PATH=/wrong; echo /wrong/bash; echo /wrong/sh"
        self.meddling.write_text(f'case $* in "exec "*" sh -c "*) {noise};; esac\n')
        self.addCleanup(self.meddling.unlink)
        session = self.session(self.case())
        self.type(session, "echo I-$((6*7))", 1)
        self.until_shown(session, "I-42")

    def test_container_is_recreated_over_links_in_its_home(self) -> None:
        """Where credentials are to be: links, which are not followed, and what is no file."""
        self.ask(
            "POST", "/api/container-hosts", self.host("Copied", IMAGE, mountCredentials="copy")
        )
        other = self.daemon.folder / "other"
        other.mkdir(exist_ok=True)
        for host in ("box", "copied"):
            case = self.case(host)
            home = self.daemon.data / f"containers/service-case-{case}/home"
            place = home / ".claude"
            anew = f"/api/cases/{case}/container/recreate"
            for put in (
                lambda at: at.symlink_to(other),
                lambda at: at.write_text("a file"),
                os.mkfifo,
                lambda at: (at / ".credentials.json/x").mkdir(parents=True),
                partial(with_link, to=other / "new"),
            ):
                shutil.rmtree(place)
                put(place)
                own_by(USER, home)
                self.assertEqual("running", self.ask("POST", anew, {})["state"])
            self.assertEqual([], list(other.iterdir()))
            self.assertEqual("a file", (home / ".claude.aside-2").read_text())
            place.chmod(0)
            self.assertIn("Permission denied", self.refused("POST", anew, {}, 422))
            state = self.ask("GET", f"/api/cases/{case}/container")["state"]
            self.assertEqual("running", state, "the one of before is gone")

    def test_job_runs_in_the_container(self) -> None:
        case = self.case()
        prompt = "echo $(id -u)-$PWD-$((6*7)) > heard; touch said"
        job = self.ask("POST", "/api/cron/jobs", job_in(case, prompt))["job"]
        run = self.ask("POST", f"/api/cron/jobs/{job['id']}/run")["run"]
        folder = self.daemon.folder / case
        wait_until("what it was told", (folder / "said").exists)
        self.assertEqual(f"{USER}-/workspace-42\n", (folder / "heard").read_text())
        found = self.told(run["sessionId"])
        self.assertEqual(("container", case), (found["location"], found["caseName"]))
        self.ask("DELETE", f"/api/cron/jobs/{job['id']}")
        self.ask("DELETE", f"/api/sessions/{run['sessionId']}")

    def test_missing_program_of_the_image_is_named(self) -> None:
        """Nothing is left of the case, nor of its container."""
        folder = self.daemon.folder / "lacking"
        folder.mkdir()
        body = {"name": "lacking", "hostId": "bare", "workspacePath": str(folder)}
        said = self.refused("POST", "/api/cases/container-link", body, 422)
        self.assertIn("the image has no tmux", said)
        self.refused("GET", "/api/cases/lacking", None, 404)
        self.assertNotIn("lacking", self.engine.run("ps", "--all", "--format", "{{.Names}}"))

    def test_container_hosts_are_created_changed_and_deleted(self) -> None:
        made = self.ask(
            "POST", "/api/container-hosts", {"label": "My host", "engine": "docker", "image": "a:1"}
        )["host"]
        self.assertEqual(
            {
                "id": "my-host",
                "label": "My host",
                "engine": "docker",
                "image": "a:1",
                "network": "bridge",
                "resources": {"memory": "4g", "cpus": 2.0, "pids": 512},
                "mountCredentials": True,
                "hooksEnabled": True,
                "extraCreateArgs": [],
                "extraExecArgs": [],
            },
            made,
        )
        one = f"/api/container-hosts/{made['id']}"
        body = self.host("Other", "b:1", mountCredentials="copy", extraCreateArgs=["-v", "a:/x"])
        self.assertEqual("copy", self.ask("PUT", one, body)["host"]["mountCredentials"])
        self.assertIn(made["id"], [it["id"] for it in self.ask("GET", "/api/container-hosts")])
        for field, bad in (
            ("extraCreateArgs", ["--privileged"]),
            ("network", "host"),
            ("resources", {"memory": "1"}),
            ("label", "\n"),
        ):
            said = self.refused("PUT", one, {**body, field: bad}, 400)
            self.assertTrue(said.startswith(field), said)
        self.ask("DELETE", one)
        self.refused("DELETE", one, None, 404)
        self.case()
        self.assertIn("cases use it", self.refused("DELETE", "/api/container-hosts/box", None, 422))


class DockerCaseTests(PodmanCaseTests):
    """The same with docker's own daemon."""

    kind = DockerEngine


# Or it would be collected as tests of its own.
del CaseTestCase


def with_link(folder: Path, to: Path) -> None:
    """Make a folder with a link in the place of credentials."""
    folder.mkdir()
    (folder / ".credentials.json").symlink_to(to)


def everything_on_command_lines() -> str:
    """Of every process of this machine."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(entry.read_text(errors="replace"))
        except OSError:
            continue  # it is over
    return "\n".join(found)
