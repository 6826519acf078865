/** The suggestions of each session, until something is said. */
import type { SuggestionResponse, Session } from "../../api/types.ts";
import { computed, signal } from "@preact/signals";
import { getErrorText } from "../../api/errors.ts";
import { writeDraft } from "../prompt/state.ts";
import { settings } from "../../store/state.ts";
import { onServerEvent } from "../../api/stream/events.ts";
import { api } from "../../api/client.ts";

type Kind = SuggestionResponse["kind"];

const KINDS: Record<Kind, string> = { continue: "Continue", verify: "Check", redirect: "Change course" };

/** A kind of a later service is told by its name. */
export const getKindLabel = (kind: string): string => KINDS[kind as Kind] ?? kind;

const REJECTED_MAX = 10;

/** Characters of the goals in a workspace. */
export const GOALS_MAX = 8_192;

/** What another guess must not be: the newest of all that was shown. */
export function collectRejected(before: readonly string[], shown: readonly { prompt: string }[]): string[] {
  return [...new Set([...before, ...shown.map((each) => each.prompt)])].slice(-REJECTED_MAX);
}

interface SessionSuggestions {
  shown: readonly SuggestionResponse[];
  rejected: readonly string[];
  /** The request under way. */
  asking?: AbortController | undefined;
  problem?: string | undefined;
}

const NONE: SessionSuggestions = { shown: [], rejected: [] };

const suggestionsBySession = signal<ReadonlyMap<string, SessionSuggestions>>(new Map());

export const getSuggestions = (id: string): SessionSuggestions => suggestionsBySession.value.get(id) ?? NONE;

const modes = computed<readonly string[]>(() => settings.value.readMyMindModes ?? ["primary"]);

export const suggestionsEnabled = computed(() => settings.value.readMyMindEnabled === true);

export const canSuggest = (session: Session): boolean =>
  suggestionsEnabled.value && modes.value.includes(session.mode);

function set(id: string, thought: SessionSuggestions): void {
  suggestionsBySession.value = new Map(suggestionsBySession.peek()).set(id, thought);
}

/** Nobody wants them any more; a request under way is given up, and its CLI ends. */
export function dropSuggestions(id: string): void {
  const thought = suggestionsBySession.peek().get(id);
  if (!thought) return;
  thought.asking?.abort();
  const next = new Map(suggestionsBySession.peek());
  next.delete(id);
  suggestionsBySession.value = next;
}

/** @param steer what another guess is to heed; what is shown is then rejected. */
export async function requestSuggestions(id: string, steer?: string): Promise<void> {
  const before = suggestionsBySession.peek().get(id) ?? NONE;
  if (before.asking) return;
  const asking = new AbortController();
  const rejected = collectRejected(before.rejected, before.shown);
  set(id, { shown: before.shown, rejected, asking });
  try {
    const body = { ...(steer && { steer }), ...(rejected.length > 0 && { rejected }) };
    const { signal } = asking;
    const { suggestions } = await api.post("/api/sessions/{id}/readmymind", { path: { id }, body, signal });
    if (!asking.signal.aborted) set(id, { shown: suggestions, rejected });
  } catch (error) {
    if (!asking.signal.aborted) set(id, { shown: before.shown, rejected, problem: getErrorText(error) });
  }
}

/** Put it into the prompt box, to be read and sent by the person. */
export function insertSuggestion(id: string, suggestion: SuggestionResponse): void {
  writeDraft(id, suggestion.prompt);
}

/** Follow the service's events for as long as the page lives. */
export function followSuggestions(): void {
  onServerEvent("session:working", ({ id }) => dropSuggestions(id));
  onServerEvent("session:deleted", ({ id }) => dropSuggestions(id));
}
