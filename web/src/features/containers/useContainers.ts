/** The container hosts as the page shows them, and the builds that run. */
import { useEffect, useState } from "preact/hooks";
import { formatError } from "../../api/errors.ts";
import type { ContainerHostResponse } from "../../api/types.ts";
import { onServerEvent } from "../../api/stream/events.ts";
import { buildImage, cancelBuild, readBuildLog, readContainerHosts } from "./calls.ts";
import { type Progress, addAdvice } from "./texts.ts";

type ById<T> = Readonly<Record<string, T | undefined>>;

export interface ContainersState {
  all: readonly ContainerHostResponse[] | undefined;
  /** What each host builds now. */
  builds: ById<Progress>;
  /** How the last build of each ended that was seen: empty for a good end. */
  ends: ById<string>;
  busy: boolean;
  problem: string;
  attempt: (act: () => Promise<unknown>) => Promise<void>;
  build: (id: string) => void;
  cancel: (id: string) => void;
}

function useBuilds() {
  const [builds, setBuilds] = useState<ById<Progress>>({});
  const [ends, setEnds] = useState<ById<string>>({});
  const begin = (id: string, part: Partial<Progress>) =>
    setBuilds((before) => ({
      ...before,
      [id]: { image: "", percent: null, line: "", ...before[id], ...part },
    }));
  const end = (id: string, text: string) => {
    setBuilds(({ [id]: _, ...others }) => others);
    setEnds((before) => ({ ...before, [id]: text }));
  };
  useEffect(() => {
    const all = [
      onServerEvent("container:imageBuildStarted", ({ hostId, image }) => begin(hostId, { image })),
      onServerEvent("container:imageBuildProgress", ({ hostId, ...told }) => begin(hostId, told)),
      onServerEvent("container:imageBuildComplete", ({ hostId }) => end(hostId, "")),
      onServerEvent("container:imageBuildFailed", ({ hostId, error }) => end(hostId, error)),
    ];
    return () => {
      for (const each of all) each();
    };
  }, []);
  return { builds, ends, begin, end };
}

export function useContainers(): ContainersState {
  const [all, setAll] = useState<readonly ContainerHostResponse[]>();
  const [busy, setBusy] = useState(true);
  const [problem, setProblem] = useState("");
  const { builds, ends, begin, end } = useBuilds();
  const tell = (error: unknown) => setProblem(addAdvice(formatError(error)));
  const look = async () => {
    const found = await readContainerHosts();
    setAll(found);
    // A build that began before the page was opened.
    for (const { id, image } of found) {
      const { running, lines } = await readBuildLog(id);
      if (running) begin(id, { image, line: lines.at(-1) ?? "" });
    }
  };
  const attempt = async (act: () => Promise<unknown>) => {
    setBusy(true);
    setProblem("");
    await act().catch(tell);
    await look().catch(tell);
    setBusy(false);
  };
  useEffect(() => void attempt(async () => undefined), []);
  const build = (id: string) => {
    begin(id, {});
    // The events tell how it goes; an engine that does not answer is told by nobody else.
    buildImage(id).catch((error: unknown) => end(id, formatError(error)));
  };
  const cancel = (id: string) => void cancelBuild(id).catch(tell);
  return { all, builds, ends, busy, problem, attempt, build, cancel };
}
