/** What a repository's changes are compared with, for all sessions in the folder. */
import { useEffect, useState } from "preact/hooks";
import { api } from "../../../api/client.ts";
import type { BaseChoiceResponse, RepositoryChangesResponse } from "../../../api/types.ts";
import { showError } from "../../../store/toasts.ts";
import { Select } from "../../../ui/Select.tsx";
import { readAgainst, rival } from "../state.ts";

const AUTOMATIC = "";
/** Beginnings of choices that are no commits: the working tree of a session, and the end of a turn. */
const SESSION = "session:";
const TURN = "turn:";

const DAY_MS = 24 * 3600 * 1000;

/** @returns words for the end of a turn, with the day if that is not the last one. */
export function describeTurn(at: number, now = Date.now()): string {
  const time = new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  const day = now - at < DAY_MS ? "" : `${new Date(at).toLocaleDateString()}, `;
  return `End of the turn at ${day}${time}`;
}

/** @returns choices with the chosen one among them, also where it is no branch. */
export function listChoices(
  found: BaseChoiceResponse | undefined,
  automatic: string,
): (readonly [string, string])[] {
  const first = [
    [AUTOMATIC, automatic],
    ["HEAD", "Last commit"],
  ] as const;
  if (!found) return [...first];
  const start = found.start ? ([["start", "Start of the session"]] as const) : [];
  const branches = found.branches.map((name) => [name, name] as const);
  const others = found.sessions.map(({ id, name }) => [SESSION + id, `Working tree of ${name}`] as const);
  const turns = found.turns.map(({ at }) => [`${TURN}${at}`, describeTurn(at)] as const);
  const all = [...first, ...turns, ...start, ...others, ...branches];
  const { chosen } = found;
  if (chosen === null || all.some(([name]) => name === chosen)) return all;
  return [...all, [chosen, chosen]];
}

const SOURCES = {
  named: "",
  chosen: "",
  session: "",
  turn: "",
  "branch-point": "where the branch left ",
  "session-start": "start of the session",
  head: "last commit",
  empty: "no commit yet",
} as const;

/** @returns words for the base that the service chooses, as far as it did. */
export function describeAutomatic({ base }: RepositoryChangesResponse): string {
  const said =
    base.source === "branch-point" ? SOURCES[base.source] + (base.ref ?? "") : SOURCES[base.source];
  return said === "" ? "Automatic" : `Automatic: ${said}`;
}

interface Props {
  session: string;
  changes: RepositoryChangesResponse;
}

export function BaseSelect({ session, changes }: Props) {
  const { repo, head } = changes;
  const [found, setFound] = useState<BaseChoiceResponse>();
  const [reads, setReads] = useState(0);
  useEffect(() => {
    const end = new AbortController();
    const query = { repo };
    api
      .get("/api/sessions/{id}/changes/base", { path: { id: session }, query, signal: end.signal })
      .then(setFound, (error: unknown) => end.signal.aborted || showError("Couldn't list branches", error));
    return () => end.abort();
  }, [session, repo, head.branch, head.commit, reads]);
  const choose = async (name: string) => {
    if (name.startsWith(SESSION) || name.startsWith(TURN)) {
      return readAgainst(session, name);
    }
    const base = name === AUTOMATIC ? null : name;
    try {
      await api.put("/api/sessions/{id}/changes/base", { path: { id: session }, body: { repo, base } });
      setFound((before) => before && { ...before, chosen: base });
      await readAgainst(session, undefined);
    } catch (error) {
      showError("Couldn't compare with it", error);
    }
  };
  if (changes.base.source === "empty") return null;
  return (
    <Select
      choices={listChoices(found, describeAutomatic(changes))}
      value={rival.value ?? found?.chosen ?? AUTOMATIC}
      onChoose={(name) => void choose(name)}
      // A turn may have ended since.
      onFocus={() => setReads((before) => before + 1)}
      aria-label="Compare with"
      testid="review-base"
    />
  );
}
