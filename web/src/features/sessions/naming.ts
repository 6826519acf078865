/** Writing a session's name where it stands. */
import { signal } from "@preact/signals";
import type { Session } from "../../api/types.ts";
import { askQuestion } from "../../ui/ask.ts";
import { rename } from "./actions.ts";

/** The session whose name is being written in its row. */
export const naming = signal<string | undefined>(undefined);

export const NAME_LENGTH = 128;
export const EMPTY_NAME = "Leave it empty to use an automatic name.";

/** What shows a session's name, and lets it be written there, says whose it is. */
const rowsOf = (id: string) => [...document.querySelectorAll<HTMLElement>(`[data-names="${id}"]`)];

/** In its row; where none is in sight, as on a phone whose list is closed, it is asked for. */
export async function writeName(session: Session): Promise<void> {
  if (rowsOf(session.id).some((row) => row.checkVisibility())) {
    naming.value = session.id;
    return;
  }
  const name = await askQuestion({
    title: "Rename",
    text: EMPTY_NAME,
    action: "Rename",
    input: "line",
    initial: session.name,
  });
  if (name !== undefined) await saveName(session, name);
}

export async function saveName(session: Session, name: string): Promise<void> {
  if (name.trim() !== session.name) await rename(session.id, name.trim());
}

/** Whoever wrote by keyboard goes on where he was, as in the terminal; else in the row. */
export function restoreFocus(id: string, from: Element | null): void {
  // Behind what is drawn next, and before the next key.
  queueMicrotask(() => {
    const stays = from instanceof HTMLElement && from.isConnected && from !== document.body;
    const to = stays ? from : rowsOf(id).find((row) => row.checkVisibility());
    to?.focus();
  });
}
