/** What a person does with several sessions at once; every failure is told in a toast. */
import { api } from "../../api/client.ts";
import type { Session } from "../../api/types.ts";
import { plural } from "../../lib/format.ts";
import { askQuestion } from "../../ui/ask.ts";
import { isAgent } from "../prompt/isagent.ts";
import { attempt, remove } from "./actions.ts";
import { livePid } from "./status.ts";

/** Interrupt what a session does: the key is the agents' own, and that of shells. */
export async function interrupt(session: Session): Promise<void> {
  const input = isAgent(session) ? "\x1b" : "\x03";
  await attempt(`Couldn't interrupt ${session.name}`, () =>
    api.post("/api/sessions/{id}/input", { path: { id: session.id }, body: { input, useMux: false } }),
  );
}

/** Close several sessions after one question. @returns whether it was agreed to. */
export async function closeAll(closed: readonly Session[]): Promise<boolean> {
  const running = closed.filter((session) => livePid(session) !== null).length;
  const answer = await askQuestion({
    title: `Close ${plural(closed.length, "session")}?`,
    text: running > 0 ? `This stops ${plural(running, "program")}.` : "None of them is running.",
    action: "Close",
    danger: true,
  });
  if (answer === undefined) return false;
  await Promise.all(closed.map(({ id }) => remove(id, true)));
  return true;
}
