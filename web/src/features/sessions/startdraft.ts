/** From what somebody chose to a session that runs. */
import { writeStored } from "../../lib/stored.ts";
import { cliOf } from "../../store/state.ts";
import { restoreDefaultFocus } from "../../ui/defaultfocus.ts";
import { sendPrompt, writeDraft } from "../prompt/state.ts";
import { currentView } from "../terminal/current.ts";
import { create } from "./actions.ts";
import { bodyOf, type Draft, remember, type Remembered, REMEMBERED_KEY } from "./newsession.ts";

/** Should it not arrive, it stands in the session's prompt box. */
export function sendFirst(id: string, prompt: string): void {
  writeDraft(id, prompt);
  void sendPrompt(id);
}

/**
 * @param kept what this browser remembers of the choices before.
 * @returns false where the person took it back when asked about the model.
 * @throws ApiError as the service refuses it.
 */
export async function startDraft(draft: Draft, kept: Remembered): Promise<boolean> {
  const made = await create(bodyOf(draft, currentView.peek()?.grid));
  if (!made) return false;
  const prompt = cliOf(made.mode)?.kind === "agent" ? draft.prompt?.trim() : "";
  if (prompt) sendFirst(made.id, prompt);
  writeStored(REMEMBERED_KEY, JSON.stringify(remember(kept, draft)));
  // Behind a dialog's own return of the focus: whoever makes a session wants to type there.
  setTimeout(restoreDefaultFocus);
  return true;
}
