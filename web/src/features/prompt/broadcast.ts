/** One prompt for several sessions, and what became of it in each. */
import { signal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { Session } from "../../api/types.ts";
import { uuid } from "../../lib/ids.ts";
import {
  type Delivery,
  describeFailure,
  HELD_AFTER_MS,
  INPUT_MAX,
  isAccepted,
  isUnderWay,
  readOutcome,
  type Ticket,
} from "./delivery.ts";
import { isAgent } from "./isagent.ts";

export interface Sent {
  id: string;
  name: string;
  ticket: Ticket;
  delivery: Delivery;
}

/** Of the last prompt, by session. */
export const sent = signal<readonly Sent[]>([]);

const clientId = uuid();
let lastSeq = 0;

function note(id: string, delivery: Delivery): void {
  sent.value = sent.peek().map((each) => (each.id === id ? { ...each, delivery } : each));
}

async function deliver({ id, ticket: { text, ...mark } }: Sent): Promise<void> {
  const held = setTimeout(() => note(id, { state: "held" }), HELD_AFTER_MS);
  try {
    const body = { input: `${text}\r`, useMux: true, ...mark };
    note(id, readOutcome(await api.post("/api/sessions/{id}/input", { path: { id }, body })));
  } catch (error) {
    note(id, describeFailure(error));
  } finally {
    clearTimeout(held);
  }
}

/** What is wrong with a prompt; nothing where it can be sent. */
export function checkPrompt(text: string): string | undefined {
  return text.length < INPUT_MAX
    ? undefined
    : `${text.length.toLocaleString("en")} of at most ${(INPUT_MAX - 1).toLocaleString("en")} characters.`;
}

/** A shell would run it as a command. */
const NO_AGENT: Delivery = { state: "failed", text: "Not sent: this is a shell.", unknown: false };

/** Send a prompt to each agent of `sessions`; {@link sent} says what became of it. */
export async function sendToAll(sessions: readonly Session[], prompt: string): Promise<void> {
  const text = prompt.trimEnd();
  sent.value = sessions.map((session) => ({
    id: session.id,
    name: session.name,
    ticket: { clientId, seq: ++lastSeq, text },
    delivery: isAgent(session) ? { state: "sending" } : NO_AGENT,
  }));
  await Promise.all(
    sent
      .peek()
      .filter(({ delivery }) => isUnderWay(delivery))
      .map(deliver),
  );
}

/** Whether one may be sent again: it was refused, or nobody knows. */
export const mayRetry = ({ delivery }: Sent): boolean =>
  delivery !== NO_AGENT && !isUnderWay(delivery) && !isAccepted(delivery);

/** The same ticket: what was typed already is not typed twice. */
export async function sendAgain(each: Sent): Promise<void> {
  note(each.id, { state: "sending" });
  await deliver(each);
}
