/** The endpoints as the page shows them, and what it does to them. */
import { readSettings, writeSettings } from "../../api/calls.ts";
import { api } from "../../api/client.ts";
import { formatError } from "../../api/errors.ts";
import type { Endpoint, Told } from "../../api/types.ts";
import { resource, useResource } from "../../store/resource.ts";
import { addAdvice } from "./texts.ts";

interface Known {
  /** The feature is on. */
  enabled: boolean;
  all?: readonly Endpoint[];
}

async function look(): Promise<Known> {
  const enabled = (await readSettings()).customModelEndpointsEnabled === true;
  return enabled ? { enabled, all: await api.get("/api/model-endpoints") } : { enabled };
}

const endpoints = resource<Known>(look, ["model:endpointsChanged"], {
  failed: (error) => addAdvice(formatError(error)),
  apply: (known, data) => ({
    ...known,
    all: (data as Told["model:endpointsChanged"]).endpoints as readonly Endpoint[],
  }),
});

/** Asks the server itself, 8 s at most. */
export const discover = (id: string) =>
  api.post("/api/model-endpoints/{id}/discover-models", { path: { id } });

const enable = () => endpoints.attempt(() => writeSettings({ customModelEndpointsEnabled: true }));

export function useEndpoints() {
  const { enabled, all } = useResource(endpoints) ?? {};
  const { attempt, busy, trouble } = endpoints;
  return { enabled, all, busy: busy.value, problem: trouble.value, attempt, enable };
}

export type Endpoints = ReturnType<typeof useEndpoints>;
