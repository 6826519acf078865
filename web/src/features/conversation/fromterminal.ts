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
  const rows = readRows(terminal);
  try {
    (await import("./jump.ts")).showInConversation({ sessionId, ...rows });
  } catch (error) {
    showError("Couldn't load the conversation", error);
  }
}

function readRows(terminal: Terminal): { rows: string[]; chosen: boolean } {
  const selected = terminal.getSelection().trim();
  if (selected !== "") return { rows: selected.split("\n"), chosen: true };
  const { active } = terminal.buffer;
  const rows = Array.from(
    { length: terminal.rows },
    (_, at) => active.getLine(active.viewportY + at)?.translateToString(true) ?? "",
  );
  return { rows: orderRows(rows, active.viewportY === active.baseY), chosen: false };
}

/** @returns the newest row first, or where older ones are looked at the middle one. */
function orderRows(rows: readonly string[], atEnd: boolean): string[] {
  if (atEnd) return rows.toReversed();
  const middle = Math.floor(rows.length / 2);
  const order = rows.map((row, at) => ({ row, far: Math.abs(at - middle) }));
  return order.toSorted((a, b) => a.far - b.far).map(({ row }) => row);
}
