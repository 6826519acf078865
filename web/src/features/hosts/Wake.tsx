/** Waking a host that is away or asleep, whatever is on it, and what came of that. */
import { useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { formatError } from "../../api/errors.ts";
import type { RemoteHost } from "../../api/types.ts";
import type { Hosts } from "./useHosts.ts";
import { canWake, type State, describeWakeMethod, describeWakeResult } from "./texts.ts";

interface Props {
  host: RemoteHost;
  page: Hosts;
  state: State;
}

export function Wake({ host, page, state }: Props) {
  const [told, setTold] = useState("");
  const [busy, setBusy] = useState(false);
  if (describeWakeMethod(host) === undefined) return null;
  const act = async () => {
    setBusy(true);
    setTold("");
    try {
      const answer = await api.post("/api/remote-hosts/{id}/wake", { path: { id: host.id } });
      setTold(describeWakeResult(answer));
      if (answer.reachable) await page.check(host.id);
    } catch (error) {
      setTold(formatError(error));
    }
    setBusy(false);
  };
  return (
    <>
      {(busy || canWake(host, state)) && (
        <button
          type="button"
          class="button small"
          aria-label={`Wake ${host.label}`}
          disabled={busy || page.busy}
          onClick={() => void act()}
          data-testid="host-wake"
        >
          {busy ? "Waking…" : "Wake"}
        </button>
      )}
      <span class="dim" role="status" data-testid="host-woken">
        {told}
      </span>
    </>
  );
}
