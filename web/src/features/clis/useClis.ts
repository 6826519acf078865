/** The registry as the page shows it, and the installs that run. */
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { readSettings, writeSettings } from "../../api/calls.ts";
import { api } from "../../api/client.ts";
import { ApiError, getErrorText } from "../../api/errors.ts";
import { onServerEvent } from "../../api/stream/events.ts";
import { resource, useResource } from "../../store/resource.ts";
import type { CliItem } from "../../api/types.ts";
import { addAdvice } from "./texts.ts";

/** Characters of an install's output that the page keeps. */
const OUTPUT_KEPT = 16_384;

interface Known {
  /** Entries may be changed. */
  managed: boolean;
  clis: CliItem[];
}

/** Why the page is not for this user. */
const refused = signal("");

async function look(): Promise<Known> {
  const managed = (await readSettings()).cliManagementEnabled === true;
  const clis = await api.get("/api/clis", { query: { versions: true } });
  return { managed, clis };
}

const registry = resource(look, ["cli:changed", "cli:installFinished"], {
  failed: (error) => {
    if (!(error instanceof ApiError && error.status === 403)) return addAdvice(getErrorText(error));
    refused.value = getErrorText(error);
    return "";
  },
});

/** How the file of entries stands. */
const entriesFile = resource(() => api.get("/api/clis/file"), ["cli:changed"]);

async function attempt(act?: () => Promise<unknown>): Promise<void> {
  await registry.attempt(act);
  if (entriesFile.data.peek()) await entriesFile.refresh();
}

/** The output so far of the installs that run, by id. */
function useInstalls() {
  const [installs, setInstalls] = useState<Readonly<Record<string, string>>>({});
  useEffect(() => {
    const ends = [
      onServerEvent("cli:installStarted", ({ id }) => {
        setInstalls((before) => ({ ...before, [id]: "" }));
      }),
      onServerEvent("cli:installOutput", ({ id, data: text }) => {
        setInstalls((before) => ({ ...before, [id]: ((before[id] ?? "") + text).slice(-OUTPUT_KEPT) }));
      }),
      onServerEvent("cli:installFinished", ({ id }) => {
        setInstalls(({ [id]: _, ...others }) => others);
      }),
    ];
    return () => {
      for (const end of ends) end();
    };
  }, []);
  return installs;
}

const INSTALL = "/api/clis/{id}/install";

/** An install takes minutes: the rest of the page stays usable. */
async function run(act: () => Promise<unknown>): Promise<void> {
  registry.trouble.value = "";
  try {
    await act();
  } catch (error) {
    registry.trouble.value = addAdvice(getErrorText(error));
  }
}

export function useClis() {
  const { managed, clis } = useResource(registry) ?? {};
  // The list is empty for who is no admin, and the file is not theirs either.
  const isListed = clis !== undefined && clis.length > 0;
  useEffect(() => (isListed ? entriesFile.follow() : undefined), [isListed]);
  useEffect(() => () => void (refused.value = ""), []);
  return {
    managed,
    clis,
    file: entriesFile.data.value,
    installs: useInstalls(),
    busy: registry.busy.value,
    refused: refused.value,
    problem: registry.trouble.value || entriesFile.trouble.value,
    attempt,
    manage: () => attempt(() => writeSettings({ cliManagementEnabled: true })),
    install: (id: string) => run(() => api.post(INSTALL, { path: { id } })),
    cancel: (id: string) => run(() => api.delete(INSTALL, { path: { id } })),
  };
}

export type Clis = ReturnType<typeof useClis>;
