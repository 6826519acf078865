/** What a repository's changes are compared with, for all sessions in the folder, and what is compared. */
import { useEffect, useState } from "preact/hooks";
import { api } from "../../../api/client.ts";
import type { BaseChoiceResponse, RepositoryChangesResponse } from "../../../api/types.ts";
import { showError } from "../../../store/toasts.ts";
import { Select } from "../../../ui/Select.tsx";
import { Icon } from "../../../ui/Icon.tsx";
import { changeSides, sides } from "../state.ts";

const AUTOMATIC = "";
/** Beginnings of choices that are no commits: the working tree of a session, and the end of a turn. */
const SESSION = "session:";
const TURN = "turn:";

const DAY_MS = 24 * 3600 * 1000;

/** @returns words for the end of a turn, with the day if that is not the last one. */
export function describeTurn(at: number, now = Date.now()): string {
  const time = new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  const day = now - at < DAY_MS ? "" : `${new Date(at).toLocaleDateString()}, `;
  // The time comes first, because a narrow field shows no more.
  return `${day}${time}, end of a turn`;
}

type Choice = readonly [name: string, words: string];

/**
 * @param chosen is among the choices, also where it is no branch.
 * @param automatic words for the choice without a name.
 */
export function listChoices(
  found: BaseChoiceResponse | undefined,
  automatic: string,
  chosen: string | null | undefined,
): Choice[] {
  const first: Choice[] = [
    [AUTOMATIC, automatic],
    ["HEAD", "Last commit"],
  ];
  const start: Choice[] = found?.start ? [["start", "Start of the session"]] : [];
  const branches = (found?.branches ?? []).map((name): Choice => [name, name]);
  const others = (found?.sessions ?? []).map(({ id, name }): Choice => [
    SESSION + id,
    `Working tree of ${name}`,
  ]);
  const turns = (found?.turns ?? []).map(({ at }): Choice => [`${TURN}${at}`, describeTurn(at)]);
  const all = [...first, ...turns, ...start, ...others, ...branches];
  if (chosen === null || chosen === undefined || all.some(([name]) => name === chosen)) return all;
  return [...all, [chosen, describeName(chosen)]];
}

const describeName = (name: string): string =>
  name.startsWith(TURN) ? describeTurn(Number(name.slice(TURN.length))) : name;

/** @returns words for what is compared; nothing for the files as they are now. */
export function describeTarget(target: RepositoryChangesResponse["target"]): string | undefined {
  if (target === undefined) return undefined;
  if (target.source === "session") return `Working tree of ${target.ref}`;
  return target.ref === "HEAD" ? "Last commit" : describeName(target.ref ?? "start of the session");
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
  const { base: named, target } = sides.value;
  const choose = async (name: string) => {
    if (name.startsWith(SESSION) || name.startsWith(TURN)) return changeSides(session, { base: name });
    const base = name === AUTOMATIC ? null : name;
    try {
      await api.put("/api/sessions/{id}/changes/base", { path: { id: session }, body: { repo, base } });
      setFound((before) => before && { ...before, chosen: base });
      await changeSides(session, { base: undefined });
    } catch (error) {
      showError("Couldn't compare with it", error);
    }
  };
  // A turn may have ended since.
  const onFocus = () => setReads((before) => before + 1);
  if (changes.base.source === "empty") return null;
  const chosen = named ?? found?.chosen;
  return (
    <span class="review-sides">
      <Select
        choices={listChoices(found, describeAutomatic(changes), chosen)}
        value={chosen ?? AUTOMATIC}
        onChoose={(name) => void choose(name)}
        onFocus={onFocus}
        aria-label="Compare with"
        testid="review-base"
      />
      <Icon name="right" size={13} />
      <Select
        choices={listChoices(found, "Now", target)}
        value={target ?? AUTOMATIC}
        onChoose={(name) => void changeSides(session, { target: name === AUTOMATIC ? undefined : name })}
        onFocus={onFocus}
        aria-label="Up to"
        testid="review-target"
      />
    </span>
  );
}
