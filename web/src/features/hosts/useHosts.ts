/** The hosts as the page shows them, what was seen of each, and what is done to them. */
import { useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { formatError } from "../../api/errors.ts";
import type { HostCheckResponse, RemoteHost } from "../../api/types.ts";
import { resource, useResource } from "../../store/resource.ts";
import { addAdvice } from "./texts.ts";

export interface Hosts {
  all: readonly RemoteHost[] | undefined;
  /** What the last look at each told. */
  found: Readonly<Record<string, HostCheckResponse | undefined>>;
  /** Hosts that are looked at now. */
  looking: ReadonlySet<string>;
  busy: boolean;
  problem: string;
  attempt: (act?: () => Promise<unknown>) => Promise<void>;
  check: (id: string) => Promise<void>;
  trust: (id: string, fingerprint: string) => Promise<void>;
}

const hosts = resource(() => api.get("/api/remote-hosts"), [], {
  failed: (error) => addAdvice(formatError(error)),
});

/** Connects; within 30 s. */
const checkHost = (id: string) => api.post("/api/remote-hosts/{id}/check", { path: { id } });

/** A look takes up to half a minute: the rest of the page stays usable. */
function useLooks() {
  const [found, setFound] = useState<Hosts["found"]>({});
  const [looking, setLooking] = useState<ReadonlySet<string>>(new Set());
  const during = async (id: string, act: () => Promise<HostCheckResponse | undefined>) => {
    setLooking((before) => new Set([...before, id]));
    hosts.trouble.value = "";
    try {
      const seen = await act();
      setFound((before) => ({ ...before, [id]: seen }));
    } catch (error) {
      hosts.trouble.value = formatError(error);
    }
    setLooking((before) => new Set([...before].filter((each) => each !== id)));
  };
  const check = (id: string) => during(id, () => checkHost(id));
  const trust = (id: string, fingerprint: string) =>
    during(id, async () => {
      await api.post("/api/remote-hosts/{id}/trust", { path: { id }, body: { fingerprint } });
      return checkHost(id);
    });
  return { found, looking, check, trust };
}

export function useHosts(): Hosts {
  const all = useResource(hosts);
  const { attempt } = hosts;
  return { all, busy: hosts.busy.value, problem: hosts.trouble.value, attempt, ...useLooks() };
}
