/** Removing a case: its consequences first, and what would be lost before it is. */
import { ApiError, textOf } from "../api/errors.ts";
import { ask } from "../ui/ask.ts";
import { failed } from "../ui/toasts.ts";
import { removeCase } from "./calls.ts";
import { consequences } from "./rules.ts";
import { readCases } from "./state.ts";
import type { CaseResponse } from "./types.ts";

/** A worktree or a folder holds what no remote has; sessions in the case are another matter. */
const isUnsaved = (error: unknown): boolean => error instanceof ApiError && error.code === "CONFLICT";

async function insist(each: CaseResponse, error: unknown): Promise<void> {
  const answer = await ask({
    title: `${each.name} holds unsaved work`,
    text: `${textOf(error)} ${consequences(each)}`,
    action: "Remove it all the same",
    danger: true,
  });
  if (answer !== undefined) await removeCase(each.name, true);
}

export async function remove(each: CaseResponse): Promise<void> {
  const answer = await ask({
    title: `Remove ${each.name}?`,
    text: consequences(each),
    action: "Remove",
    danger: true,
  });
  if (answer === undefined) return;
  try {
    await removeCase(each.name, false).catch((error: unknown) => {
      if (isUnsaved(error)) return insist(each, error);
      throw error;
    });
  } catch (error) {
    failed("Not removed", error);
  }
  await readCases();
}
