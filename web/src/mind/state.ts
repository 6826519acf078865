/** The suggestions of each session, until something is said. */
import { computed, signal } from "@preact/signals";
import { textOf } from "../api/errors.ts";
import type { Session, SuggestionResponse } from "../api/types.ts";
import { write } from "../prompt/state.ts";
import { settings } from "../store/state.ts";
import { onServerEvent } from "../stream/events.ts";
import * as calls from "./calls.ts";
import { rejectedOf } from "./words.ts";

export interface Thought {
  shown: readonly SuggestionResponse[];
  rejected: readonly string[];
  /** The request under way. */
  asking?: AbortController | undefined;
  problem?: string | undefined;
}

const NONE: Thought = { shown: [], rejected: [] };

const thoughts = signal<ReadonlyMap<string, Thought>>(new Map());

export const thoughtOf = (id: string): Thought => thoughts.value.get(id) ?? NONE;

const modes = computed<readonly string[]>(() => settings.value.readMyMindModes ?? ["primary"]);

export const mindEnabled = computed(() => settings.value.readMyMindEnabled === true);

export const canSuggest = (session: Session): boolean =>
  mindEnabled.value && modes.value.includes(session.mode);

function set(id: string, thought: Thought): void {
  thoughts.value = new Map(thoughts.peek()).set(id, thought);
}

/** Nobody wants them any more; a request under way is given up, and its CLI ends. */
export function forget(id: string): void {
  const thought = thoughts.peek().get(id);
  if (!thought) return;
  thought.asking?.abort();
  const next = new Map(thoughts.peek());
  next.delete(id);
  thoughts.value = next;
}

/** @param steer what another guess is to heed; what is shown is then rejected. */
export async function think(id: string, steer?: string): Promise<void> {
  const before = thoughts.peek().get(id) ?? NONE;
  if (before.asking) return;
  const asking = new AbortController();
  const rejected = rejectedOf(before.rejected, before.shown);
  set(id, { shown: before.shown, rejected, asking });
  try {
    const body = { ...(steer && { steer }), ...(rejected.length > 0 && { rejected }) };
    const { suggestions } = await calls.suggest(id, body, asking.signal);
    if (!asking.signal.aborted) set(id, { shown: suggestions, rejected });
  } catch (error) {
    if (!asking.signal.aborted) set(id, { shown: before.shown, rejected, problem: textOf(error) });
  }
}

/** Put it into the prompt box, to be read and sent by the person. */
export function take(id: string, suggestion: SuggestionResponse): void {
  write(id, suggestion.prompt);
}

/** Follow the service's events for as long as the page lives. */
export function followMind(): void {
  onServerEvent("session:working", ({ id }) => forget(id));
  onServerEvent("session:deleted", ({ id }) => forget(id));
}
