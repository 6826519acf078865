/** The registry as the page shows it, and the installs that run. */
import { useEffect, useState } from "preact/hooks";
import { readSettings, writeSettings } from "../../api/calls.ts";
import { ApiError, getErrorText } from "../../api/errors.ts";
import { onServerEvent } from "../../api/stream/events.ts";
import { cancelInstall, installCli, readCliFile, readClis } from "./calls.ts";
import type { CliFile, CliItem } from "../../api/types.ts";
import { addAdvice } from "./texts.ts";

/** Characters of an install's output that the page keeps. */
const OUTPUT_KEPT = 16_384;

export interface ClisPage {
  /** Whether entries may be changed; unset until the setting was read. */
  managed: boolean | undefined;
  clis: CliItem[] | undefined;
  /** How the file of entries stands, for admins. */
  file: CliFile | undefined;
  /** The output so far of the installs that run, by id. */
  installs: Readonly<Record<string, string>>;
  busy: boolean;
  refused: string;
  problem: string;
  attempt: (act: () => Promise<unknown>) => Promise<void>;
  manage: () => Promise<void>;
  install: (id: string) => Promise<void>;
  cancel: (id: string) => Promise<void>;
}

function useInstalls(over: () => void) {
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
        over();
      }),
      onServerEvent("cli:changed", over),
    ];
    return () => {
      for (const end of ends) end();
    };
  }, []);
  return installs;
}

export function useClis(): ClisPage {
  const [managed, setManaged] = useState<boolean>();
  const [clis, setClis] = useState<CliItem[]>();
  const [file, setFile] = useState<CliFile>();
  const [busy, setBusy] = useState(true);
  const [refused, setRefused] = useState("");
  const [problem, setProblem] = useState("");

  const look = async () => {
    setManaged((await readSettings()).cliManagementEnabled === true);
    const found = await readClis();
    setClis(found);
    // The list is empty for who is no admin, and the file is not theirs either.
    if (found.length > 0) setFile(await readCliFile());
  };
  const run = async (act: () => Promise<unknown>) => {
    setProblem("");
    try {
      await act();
      await look();
    } catch (error) {
      if (error instanceof ApiError && error.status === 403) setRefused(getErrorText(error));
      else setProblem(addAdvice(getErrorText(error)));
    }
  };
  const attempt = async (act: () => Promise<unknown>) => {
    setBusy(true);
    await run(act);
    setBusy(false);
  };
  useEffect(() => void attempt(async () => undefined), []);
  const installs = useInstalls(() => void look().catch((error: unknown) => setProblem(getErrorText(error))));
  return {
    managed,
    clis,
    file,
    installs,
    busy,
    refused,
    problem,
    attempt,
    manage: () => attempt(() => writeSettings({ cliManagementEnabled: true })),
    // An install takes minutes: the rest of the page stays usable.
    install: (id) => run(() => installCli(id)),
    cancel: (id) => run(() => cancelInstall(id)),
  };
}
