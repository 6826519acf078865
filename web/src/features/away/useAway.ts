/** What the sessions did since they were looked at, as the service counts it. */
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { formatError } from "../../api/errors.ts";
import { onServerEvent } from "../../api/stream/events.ts";
import type { AwayResponse } from "../../api/types.ts";
import { showError } from "../../store/toasts.ts";

/** What is counted comes with one of these; it is read again, but not for each of many. */
const EVENTS = [
  "session:stop",
  "session:deleted",
  "approval:resolved",
  "approval:byRule",
  "check:finished",
] as const;
const PAUSE_MS = 2_000;

export function useAway() {
  const [away, setAway] = useState<AwayResponse>();
  const [problem, setProblem] = useState("");
  const read = async () => {
    try {
      setAway(await api.get("/api/away"));
      setProblem("");
    } catch (error) {
      setProblem(formatError(error));
    }
  };
  useEffect(() => {
    void read();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const soon = () => void (timer ??= setTimeout(() => ((timer = undefined), void read()), PAUSE_MS));
    const ends = EVENTS.map((name) => onServerEvent(name, soon));
    return () => {
      clearTimeout(timer);
      ends.forEach((end) => end());
    };
  }, []);
  const markSeen = async () => {
    try {
      await api.post("/api/away/seen");
      await read();
    } catch (error) {
      showError("Couldn't mark it as seen", error);
    }
  };
  return { away, problem, markSeen };
}
