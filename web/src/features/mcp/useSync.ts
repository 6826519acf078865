/** What a sync would do, looked up when the page opens, and what one did. */
import { useEffect, useState } from "preact/hooks";
import { readSettings, writeSettings } from "../../api/calls.ts";
import { ApiError, getErrorText } from "../../api/errors.ts";
import { onServerEvent } from "../../api/stream/events.ts";
import { applySync, previewSync } from "./calls.ts";
import type { SyncResult } from "./types.ts";

export interface SyncPage {
  /** Unset until the setting was read. */
  enabled: boolean | undefined;
  result: SyncResult | undefined;
  busy: boolean;
  /** Not for this user; the service says why. */
  refused: string;
  problem: string;
  look: () => Promise<void>;
  apply: () => Promise<void>;
  enable: () => Promise<void>;
}

export function useSync(): SyncPage {
  const [enabled, setEnabled] = useState<boolean>();
  const [result, setResult] = useState<SyncResult>();
  const [busy, setBusy] = useState(true);
  const [refused, setRefused] = useState("");
  const [problem, setProblem] = useState("");

  const attempt = async (act: () => Promise<void>) => {
    setProblem("");
    setBusy(true);
    try {
      await act();
    } catch (error) {
      if (error instanceof ApiError && error.status === 403) setRefused(getErrorText(error));
      else setProblem(getErrorText(error));
    } finally {
      setBusy(false);
    }
  };
  const look = async () => {
    const on = (await readSettings()).mcpSyncEnabled === true;
    setEnabled(on);
    if (on) setResult(await previewSync());
  };
  useEffect(() => void attempt(look), []);
  // Somebody else's sync: what is shown is no longer so.
  useEffect(() => {
    const end = onServerEvent("mcp:synced", setResult);
    return () => void end();
  }, []);
  return {
    enabled,
    result,
    busy,
    refused,
    problem,
    look: () => attempt(look),
    apply: () => attempt(async () => setResult(await applySync())),
    enable: () =>
      attempt(async () => {
        await writeSettings({ mcpSyncEnabled: true });
        await look();
      }),
  };
}
