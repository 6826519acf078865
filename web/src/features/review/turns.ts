/** The two sides of a turn: the ends of turns that the service recorded around it. */
import { api } from "../../api/client.ts";
import { showError } from "../../store/toasts.ts";
import type { TurnSpan } from "./open.ts";
import type { Sides } from "./state.ts";

/**
 * @param ends of the recorded turns, latest first, in Unix milliseconds.
 * @returns no sides where the end of the turn before is not kept.
 */
export function chooseSides(ends: readonly number[], { from, to }: TurnSpan): Sides {
  const before = ends.find((at) => at <= from);
  if (before === undefined) return {};
  const end = ends.findLast((at) => at >= to);
  // The files of the last turn are those of now, so that they can be commented on and put back.
  const isLast = end === undefined || end === ends[0];
  return { base: `turn:${before}`, ...(!isLast && { target: `turn:${end}` }) };
}

export async function findSides(id: string, turn: TurnSpan): Promise<Sides> {
  try {
    const { turns } = await api.get("/api/sessions/{id}/changes/base", { path: { id }, query: {} });
    return chooseSides(
      turns.map(({ at }) => at),
      turn,
    );
  } catch (error) {
    showError("Couldn't find the files of this turn", error);
    return {};
  }
}
