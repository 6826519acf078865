/** The hosts as the page shows them, what was seen of each, and what is done to them. */
import { useEffect, useState } from "preact/hooks";
import { formatError } from "../../api/errors.ts";
import type { HostCheckResponse, RemoteHost } from "../../api/types.ts";
import { checkHost, readHosts, trustKey } from "./calls.ts";
import { addAdvice } from "./texts.ts";

export interface Hosts {
  all: readonly RemoteHost[] | undefined;
  /** What the last look at each told. */
  found: Readonly<Record<string, HostCheckResponse | undefined>>;
  /** Hosts that are looked at now. */
  looking: ReadonlySet<string>;
  busy: boolean;
  problem: string;
  attempt: (act: () => Promise<unknown>) => Promise<void>;
  check: (id: string) => Promise<void>;
  trust: (id: string, fingerprint: string) => Promise<void>;
}

/** A look takes up to half a minute: the rest of the page stays usable. */
function useLooks(tell: (problem: string) => void) {
  const [found, setFound] = useState<Hosts["found"]>({});
  const [looking, setLooking] = useState<ReadonlySet<string>>(new Set());
  const during = async (id: string, act: () => Promise<HostCheckResponse | undefined>) => {
    setLooking((before) => new Set([...before, id]));
    tell("");
    try {
      const seen = await act();
      setFound((before) => ({ ...before, [id]: seen }));
    } catch (error) {
      tell(formatError(error));
    }
    setLooking((before) => new Set([...before].filter((each) => each !== id)));
  };
  const check = (id: string) => during(id, () => checkHost(id));
  const trust = (id: string, fingerprint: string) =>
    during(id, async () => {
      await trustKey(id, fingerprint);
      return checkHost(id);
    });
  return { found, looking, check, trust };
}

export function useHosts(): Hosts {
  const [all, setAll] = useState<readonly RemoteHost[]>();
  const [busy, setBusy] = useState(true);
  const [problem, setProblem] = useState("");
  const looks = useLooks(setProblem);
  const attempt = async (act: () => Promise<unknown>) => {
    setBusy(true);
    setProblem("");
    // What failed may have changed something all the same.
    await act().catch((error: unknown) => setProblem(addAdvice(formatError(error))));
    await readHosts().then(setAll, (error: unknown) => setProblem(formatError(error)));
    setBusy(false);
  };
  useEffect(() => void attempt(async () => undefined), []);
  return { all, busy, problem, attempt, ...looks };
}
