/** What a new clone or worktree lacks, and fetching it in a shell (protocol-prepare). */
import { select } from "../sessions/actions.ts";
import { failed, say } from "../ui/toasts.ts";
import { prepareCase } from "./calls.ts";

export async function prepare(name: string): Promise<void> {
  try {
    const { sessionId } = await prepareCase(name);
    if (sessionId === undefined) say("good", "Nothing is lacking", name);
    else select(sessionId);
  } catch (error) {
    failed("Not fetched", error);
  }
}

/** The message stays until somebody has dealt with it. */
export function tellLacking(name: string, warnings: readonly string[]): void {
  if (warnings.length === 0) return;
  const text = `${warnings.join("; ")}.`;
  const fetch = { label: "Fetch in a shell", act: () => void prepare(name) };
  say("info", `${name} is incomplete`, `${text.charAt(0).toUpperCase()}${text.slice(1)}`, fetch);
}
