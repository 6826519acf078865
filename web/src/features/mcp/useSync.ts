/** What a sync would do, looked up when the page opens, and what one did. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { readSettings, writeSettings } from "../../api/calls.ts";
import { api } from "../../api/client.ts";
import { ApiError, getErrorText } from "../../api/errors.ts";
import type { Sync } from "../../api/types.ts";
import { resource, useResource } from "../../store/resource.ts";

interface Known {
  /** The feature is on. */
  enabled: boolean;
  result?: Sync;
}

/** Why the page is not for this user. */
const refused = signal("");

async function look(): Promise<Known> {
  const enabled = (await readSettings()).mcpSyncEnabled === true;
  return enabled ? { enabled, result: await api.get("/api/mcp-sync") } : { enabled };
}

const sync = resource<Known>(look, ["mcp:synced"], {
  failed: (error) => {
    if (!(error instanceof ApiError && error.status === 403)) return getErrorText(error);
    refused.value = getErrorText(error);
    return "";
  },
  // Somebody else's sync: what is shown is no longer so.
  apply: (known, data) => ({ ...known, result: data as Sync }),
});

const applying = signal(false);

/** What a sync did is shown, and not what the next one would do. */
async function apply(): Promise<void> {
  applying.value = true;
  sync.trouble.value = "";
  try {
    sync.data.value = { enabled: true, result: await api.post("/api/mcp-sync") };
  } catch (error) {
    sync.trouble.value = getErrorText(error);
  } finally {
    applying.value = false;
  }
}

export function useSync() {
  const { enabled, result } = useResource(sync) ?? {};
  useEffect(() => () => void (refused.value = ""), []);
  return {
    enabled,
    result,
    busy: sync.busy.value || applying.value,
    refused: refused.value,
    problem: sync.trouble.value,
    look: () => sync.attempt(),
    apply,
    enable: () => sync.attempt(() => writeSettings({ mcpSyncEnabled: true })),
  };
}

export type SyncPage = ReturnType<typeof useSync>;
