/** The way from a terminal to the conversation of its session, whose code comes with the first. */
import type { Terminal } from "@xterm/xterm";
import { showError } from "../../store/toasts.ts";
import { sessionList } from "../../store/state.ts";
import { gridOn } from "../grid/state.ts";
import { hasRecord } from "./choice.ts";

/** For agents whose record is read; several terminals side by side leave no room for it. */
export function hasConversationView(sessionId: string): boolean {
  const session = sessionList.value.byId.get(sessionId);
  return session !== undefined && hasRecord(session) && !gridOn.value;
}

/** Show the conversation where it has what is selected in the terminal, else what is in sight there. */
export async function openConversation(sessionId: string, terminal: Terminal): Promise<void> {
  try {
    (await import("./jump.ts")).showInConversation(sessionId, terminal);
  } catch (error) {
    showError("Couldn't load the conversation", error);
  }
}
