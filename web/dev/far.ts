/** The mock's machines by ssh and its containers (protocol-remote, protocol-wake, protocol-containers). */
import type {
  ContainerResponse,
  ContainerHostResponse,
  HostCheckResponse,
  HostReachability,
  RemoteHost,
  TmuxSession,
} from "../src/api/types.ts";
import type { CaseResponse } from "../src/api/types.ts";
import { Refused } from "./refused.ts";
import type { MockState } from "./state.ts";

const GIB = 1024 ** 3;

const HOSTS: RemoteHost[] = [
  {
    id: "build-box",
    label: "build box",
    host: "build.lan",
    username: "me",
    port: 22,
    extraSshOptions: [],
    commands: {},
    wakeMac: "52:54:00:12:34:56",
  },
  {
    id: "lab",
    label: "lab",
    host: "lab.example.org",
    username: "me",
    port: 2222,
    jumpHost: "me@gate.example.org",
    extraSshOptions: [],
    commands: {},
  },
];

const CHECKS: Record<string, HostCheckResponse> = {
  "build-box": { ok: true, hostKey: "known", latencyMs: 12, tmux: "3.5a" },
  lab: {
    ok: false,
    hostKey: "changed",
    fingerprint: "SHA256:Zm9yIHRlc3RzIG9ubHksIG5vdCBhIHJlYWwga2V5ISE",
    knownFingerprint: "SHA256:dGhlIG9uZSB0aGF0IHdhcyB0cnVzdGVkIGJlZm9yZS4",
    error: "the key of lab has changed",
  },
};

const THERE: TmuxSession[] = [
  { name: "notes", attached: 0, windows: 1, created: Date.now() - 7_200_000, cols: 120, rows: 40 },
  { name: "irc & mail", attached: 2, windows: 3, created: Date.now() - 86_400_000, cols: 80, rows: 24 },
];

const ENGINE: ContainerHostResponse = {
  id: "default",
  label: "This machine",
  engine: "podman",
  image: "service/agent:base",
  network: "bridge",
  resources: { memory: "4g", cpus: 2, pids: 512 },
  mountCredentials: true,
  hooksEnabled: true,
  extraCreateArgs: [],
  extraExecArgs: [],
};

const box = (caseName: string, part: Partial<ContainerResponse>): ContainerResponse => ({
  name: `service-case-${caseName}`,
  caseName,
  hostId: "default",
  state: "running",
  image: ENGINE.image,
  network: "bridge",
  created: Date.now() - 3_600_000,
  limits: { memory: 4 * GIB, cpus: 2, pids: 512 },
  ...part,
});

const aCase = (name: string, part: Partial<CaseResponse>): CaseResponse => ({
  name,
  path: `/home/demo/${name}`,
  location: "container",
  linked: true,
  hasInstructions: false,
  liveSessions: 0,
  ...part,
});

const container = (name: string) => ({
  hostId: "default",
  engine: "podman",
  name: `service-case-${name}`,
  workdir: "/workspace",
});

/** One host answers, one shows another key; one container runs, one had too little memory. */
export class MockFar {
  private readonly state: MockState;
  private readonly reach = new Map<string, HostReachability>();
  private readonly wakers: (() => void)[] = [];
  private readonly log: string[] = [];
  private building = false;
  private readonly boxes = [
    box("fenced", {
      usage: { memory: 3.5 * GIB, cpu: 61, pids: 37 },
      warnings: ["/home/agent/.claude/.credentials.json cannot be read inside"],
    }),
    box("hungry", {
      state: "exited",
      exitCode: 137,
      oomKilled: true,
      limits: { memory: GIB / 2, cpus: 1, pids: 64 },
    }),
  ];

  constructor(state: MockState) {
    this.state = state;
  }

  /** A session becomes one of a host's, and the way there goes or comes back. */
  way(id: string, up: boolean, seconds: number, hostId = "build-box"): void {
    const session = this.state.sessions.get(id);
    if (!session) return;
    const nextAt = seconds > 0 ? Date.now() + seconds * 1000 : undefined;
    this.reach.set(id, {
      reachable: up,
      wakeConfigured: "mac",
      ...(!up && { error: "Connection timed out", ...(nextAt !== undefined && { nextAt }) }),
    });
    if (session.record.remote?.hostId !== hostId)
      session.update({ location: "remote", remote: { hostId, name: `service-${id}`, owned: true } });
    session.far(up, nextAt);
    if (up) for (const woken of this.wakers.splice(0)) woken();
    const name = up ? "sessionReconnected" : nextAt === undefined ? "reconnectExhausted" : "sessionDropped";
    this.state.publish(`remote:${name}`, { id, at: Date.now(), attempt: 2, nextAt });
  }

  /** @param percent 100 ends it; below 0 it fails. */
  build(percent: number): void {
    const about = { hostId: "default", image: ENGINE.image };
    this.building = percent >= 0 && percent < 100;
    if (percent === 0) this.log.length = 0;
    const line = `STEP ${Math.max(1, Math.ceil(percent / 10))}/10: RUN apt-get install --yes tmux git`;
    this.log.push(line);
    if (percent === 0) this.state.publish("container:imageBuildStarted", about);
    if (this.building) this.state.publish("container:imageBuildProgress", { ...about, percent, line });
    if (percent >= 100) this.state.publish("container:imageBuildComplete", about);
    if (percent < 0)
      this.state.publish("container:imageBuildFailed", { ...about, error: "it was cancelled" });
  }

  cases(): CaseResponse[] {
    return [
      aCase("fenced", { container: container("fenced") }),
      aCase("hungry", { container: container("hungry") }),
      aCase("engine", {
        path: "/home/me/src/engine",
        location: "remote",
        remote: { hostId: "build-box", path: "/home/me/src/engine" },
      }),
    ];
  }

  session(id: string, part: string): unknown {
    const found = this.reach.get(id) ?? { reachable: true, wakeConfigured: "none" as const };
    if (part === "reachability") return found;
    this.state.publish("remote:hostWaking", { hostId: "build-box", method: "mac" });
    const answer = { woke: true, reachable: true, wakeConfigured: found.wakeConfigured };
    return new Promise((resolve) => this.wakers.push(() => resolve(answer)));
  }

  host(id: string, part: string | undefined, body: Record<string, unknown>): unknown {
    const host = HOSTS.find((each) => each.id === id);
    if (!host) throw new Refused(404, "NOT_FOUND", `Remote host ${id} not found`);
    if (part === "check") return CHECKS[id];
    if (part === "sessions") return { sessions: THERE };
    if (part === "wake") {
      for (const [session, { reachable }] of this.reach) if (!reachable) this.way(session, true, 0, id);
      return { woke: true, reachable: true, wakeConfigured: "mac" };
    }
    if (part === "trust") {
      CHECKS[id] = { ok: true, hostKey: "known", latencyMs: 40, tmux: "3.3a" };
      return {};
    }
    return { host: { ...host, ...body } };
  }

  engine(part: readonly string[]): unknown {
    const [what, how] = part;
    if (what === "containers") return { containers: this.boxes };
    if (what === "build" && how === "log") return { running: this.building, lines: this.log };
    if (what === "build") this.build(how === "cancel" ? -1 : 0);
    return {};
  }

  box(caseName: string, recreate: boolean): unknown {
    const at = this.boxes.findIndex((each) => each.caseName === caseName);
    if (recreate) this.boxes[at] = box(caseName, { usage: { memory: GIB / 8, cpu: 1, pids: 3 } });
    return this.boxes[at];
  }

  attach(name: string): Record<string, unknown> {
    const remote = { hostId: "build-box", name, owned: false };
    return { name, location: "remote", workingDir: "/home/me", remote };
  }

  route(path: string[], body: Record<string, unknown>, method: string): unknown {
    const [, what, id, ...part] = path;
    if (what === "cases") return id === undefined ? this.cases() : this.box(id, part[1] === "recreate");
    if (what === "remote-hosts") return id === undefined ? HOSTS : this.host(id, part[0], body);
    if (id === undefined) return method === "POST" ? { host: ENGINE } : [ENGINE];
    return this.engine(part);
  }
}
