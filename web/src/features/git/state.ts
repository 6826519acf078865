/** What is known of each session's workspace, and the one queue that reads it. */
import { signal } from "@preact/signals";
import { api } from "../../api/client.ts";
import { ApiError, getErrorText } from "../../api/errors.ts";
import { type Answer, Refresher } from "./refresher.ts";
import type { Chosen } from "./texts.ts";

interface StatusOptions {
  /** Seconds that one git command may run; the service's own bound where absent. */
  timeout?: number;
  signal?: AbortSignal;
}

export const answers = signal<ReadonlyMap<string, Answer>>(new Map());

/** The file whose diff is shown. */
export const chosen = signal<Chosen | undefined>(undefined);

/** Sessions whose status is being read because a person asked. */
export const reading = signal<ReadonlySet<string>>(new Set());

function keepAnswer(id: string, answer: Answer): void {
  answers.value = new Map(answers.peek()).set(id, answer);
}

export function forget(id: string): void {
  if (!answers.peek().has(id)) return;
  const left = new Map(answers.peek());
  left.delete(id);
  answers.value = left;
}

/** A session that is gone is no trouble worth a word; the sign-in page is the answer to a 401. */
function failed(id: string, error: unknown): void {
  if (error instanceof ApiError && (error.status === 404 || error.status === 401)) return forget(id);
  keepAnswer(id, { at: Date.now(), problem: getErrorText(error) });
}

async function read(id: string, options: StatusOptions): Promise<void> {
  try {
    const { timeout, signal } = options;
    const query = { fresh: true, ...(timeout !== undefined && { timeout: [String(timeout)] }) };
    const status = await api.get("/api/sessions/{id}/git-status", { path: { id }, query, signal });
    keepAnswer(id, { at: Date.now(), status });
  } catch (error) {
    failed(id, error);
  }
}

/** At once, whatever is queued. */
export async function readNow(id: string, options: StatusOptions = {}): Promise<void> {
  reading.value = new Set(reading.peek()).add(id);
  await read(id, options);
  const left = new Set(reading.peek());
  left.delete(id);
  reading.value = left;
}

export const refresher = new Refresher({
  now: () => Date.now(),
  later: (act, ms) => {
    const timer = setTimeout(act, ms);
    return () => clearTimeout(timer);
  },
  read: (id) => read(id, {}),
  answeredAt: (id) => answers.peek().get(id)?.at,
});
