/** The next fires of the draft in the editor, asked for while it is written. */
import { useEffect, useState } from "preact/hooks";
import { api } from "../../../api/client.ts";
import { bodyOf, type Draft } from "./draft.ts";
import type { Definition } from "../jobs/job.ts";
import {
  type FieldName,
  type Problems,
  SCHEDULE_FIELDS,
  validateDraft,
  type Refusal,
  parseRefusal,
} from "./problems.ts";

/** Long enough not to ask for every key, short enough to follow the eye. */
export const DEBOUNCE_MS = 300;

/** Fields that say when a job fires or whether it could; a folder may be chosen later. */
const ASKED: readonly FieldName[] = ["agentType", ...SCHEDULE_FIELDS];

/**
 * The definition that the service is asked about: what has no bearing on the times is filled in,
 * so that they show from the start and a long prompt does not travel with every key.
 * @returns undefined while a field that counts is known to be wrong.
 */
export function previewBody(draft: Draft, zone: string, now: number): Definition | undefined {
  const wrong: Problems = validateDraft(draft, zone, now);
  if (ASKED.some((field) => field in wrong)) return undefined;
  const filled: Draft = { ...draft, name: "preview", promptMode: "inline_text", promptText: "-", notes: "" };
  const body: Definition = { ...bodyOf(filled, zone), launchCommand: null, enabled: true };
  return "workingDir" in wrong ? withoutFolder(body) : body;
}

const withoutFolder = (body: Definition): Definition => ({ ...body, workingDir: null });

export interface Preview {
  fires: readonly number[];
  /** The cron expression in words. */
  explanation: string | undefined;
  /** Each of another field. */
  refusals: readonly Refusal[];
  /** The fires are those of the draft as it is. */
  current: boolean;
}

const NONE: Preview = { fires: [], explanation: undefined, refusals: [], current: false };

/** A refusal of the folder says nothing of the times, so they are asked for without it. */
async function ask(body: Definition, signal: AbortSignal): Promise<Preview> {
  try {
    return { ...NONE, ...(await api.post("/api/cron/preview", { body, signal })), current: true };
  } catch (error) {
    const refusal = parseRefusal(error);
    if (refusal.field !== "workingDir" || signal.aborted)
      return { ...NONE, refusals: [refusal], current: true };
    const rest = await ask(withoutFolder(body), signal);
    return { ...rest, refusals: [refusal, ...rest.refusals] };
  }
}

/** Each new draft takes back the question about the one before. */
export function usePreview(draft: Draft, zone: string, now: number): Preview {
  const body = previewBody(draft, zone, now);
  const text = body && JSON.stringify(body);
  const [preview, setPreview] = useState(NONE);
  useEffect(() => {
    setPreview((before) => ({ ...before, explanation: undefined, refusals: [], current: false }));
    if (text === undefined) return;
    const end = new AbortController();
    const show = async () => {
      const found = await ask(JSON.parse(text) as Definition, end.signal);
      if (!end.signal.aborted) setPreview(found);
    };
    const timer = setTimeout(() => void show(), DEBOUNCE_MS);
    return () => {
      clearTimeout(timer);
      end.abort();
    };
  }, [text]);
  return text === undefined ? NONE : preview;
}
