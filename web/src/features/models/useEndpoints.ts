/** The endpoints as the page shows them, and what it does to them. */
import { useEffect, useState } from "preact/hooks";
import { readSettings, writeSettings } from "../../api/calls.ts";
import { formatError, getErrorText } from "../../api/errors.ts";
import type { Endpoint } from "../../api/types.ts";
import { onServerEvent } from "../../api/stream/events.ts";
import { readEndpoints } from "./calls.ts";
import { addAdvice } from "./texts.ts";

export interface Endpoints {
  /** Whether the feature is on; unset until the setting was read. */
  enabled: boolean | undefined;
  all: Endpoint[] | undefined;
  busy: boolean;
  problem: string;
  attempt: (act: () => Promise<unknown>) => Promise<void>;
  enable: () => Promise<void>;
}

export function useEndpoints(): Endpoints {
  const [enabled, setEnabled] = useState<boolean>();
  const [all, setAll] = useState<Endpoint[]>();
  const [busy, setBusy] = useState(true);
  const [problem, setProblem] = useState("");
  const look = async () => {
    const on = (await readSettings()).customModelEndpointsEnabled === true;
    setEnabled(on);
    if (on) setAll(await readEndpoints());
  };
  const attempt = async (act: () => Promise<unknown>) => {
    setBusy(true);
    setProblem("");
    // What failed may have changed something all the same.
    await act().catch((error: unknown) => setProblem(addAdvice(formatError(error))));
    await look().catch((error: unknown) => setProblem(getErrorText(error)));
    setBusy(false);
  };
  useEffect(() => {
    void attempt(async () => undefined);
    const end = onServerEvent("model:endpointsChanged", ({ endpoints }) => setAll(endpoints as Endpoint[]));
    return () => void end();
  }, []);
  return {
    enabled,
    all,
    busy,
    problem,
    attempt,
    enable: () => attempt(() => writeSettings({ customModelEndpointsEnabled: true })),
  };
}
