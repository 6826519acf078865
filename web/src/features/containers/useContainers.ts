/** The container hosts as the page shows them, and the builds that run. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { api } from "../../api/client.ts";
import { formatError } from "../../api/errors.ts";
import { onServerEvent } from "../../api/stream/events.ts";
import type { ContainerHostResponse } from "../../api/types.ts";
import { resource, useResource } from "../../store/resource.ts";
import { addAdvice, type Progress } from "./texts.ts";

type ById<T> = Readonly<Record<string, T | undefined>>;

export interface ContainersState {
  all: readonly ContainerHostResponse[] | undefined;
  /** What each host builds now. */
  builds: ById<Progress>;
  /** How the last build of each ended that was seen: empty for a good end. */
  ends: ById<string>;
  busy: boolean;
  problem: string;
  attempt: (act?: () => Promise<unknown>) => Promise<void>;
  build: (id: string) => void;
  cancel: (id: string) => void;
}

const HOST = "/api/container-hosts/{id}";
const builds = signal<ContainersState["builds"]>({});
const ends = signal<ContainersState["ends"]>({});

export const readBuildLog = (id: string) => api.get(`${HOST}/build/log`, { path: { id } });

function begin(id: string, part: Partial<Progress>): void {
  const before = builds.peek();
  builds.value = { ...before, [id]: { image: "", percent: null, line: "", ...before[id], ...part } };
}

function end(id: string, text: string): void {
  const { [id]: _, ...others } = builds.peek();
  builds.value = others;
  ends.value = { ...ends.peek(), [id]: text };
}

const failed = (error: unknown) => addAdvice(formatError(error));

async function readHosts(): Promise<ContainerHostResponse[]> {
  const found = await api.get("/api/container-hosts");
  // A build that began before the page was opened.
  for (const { id, image } of found) {
    const { running, lines } = await readBuildLog(id);
    if (running) begin(id, { image, line: lines.at(-1) ?? "" });
  }
  return found;
}

const hosts = resource(readHosts, [], { failed });

function followBuilds(): () => void {
  const all = [
    onServerEvent("container:imageBuildStarted", ({ hostId, image }) => begin(hostId, { image })),
    onServerEvent("container:imageBuildProgress", ({ hostId, ...told }) => begin(hostId, told)),
    onServerEvent("container:imageBuildComplete", ({ hostId }) => end(hostId, "")),
    onServerEvent("container:imageBuildFailed", ({ hostId, error }) => end(hostId, error)),
  ];
  return () => {
    for (const each of all) each();
    builds.value = {};
    ends.value = {};
  };
}

function build(id: string): void {
  begin(id, {});
  // The events tell how it goes; an engine that does not answer is told by nobody else.
  api.post(`${HOST}/build`, { path: { id } }).catch((error: unknown) => end(id, formatError(error)));
}

function cancel(id: string): void {
  api
    .post(`${HOST}/build/cancel`, { path: { id } })
    .catch((error: unknown) => (hosts.trouble.value = failed(error)));
}

export function useContainers(): ContainersState {
  const all = useResource(hosts);
  useEffect(followBuilds, []);
  return {
    all,
    builds: builds.value,
    ends: ends.value,
    busy: hosts.busy.value,
    problem: hosts.trouble.value,
    attempt: hosts.attempt,
    build,
    cancel,
  };
}
