/** How attached files go with a prompt: each agent takes them in its own form (protocol-uploads). */
import type { Item } from "./tray.ts";

export interface Composed {
  /** Keys of what is pasted by itself before the text, each with its path. */
  pastes: { key: number; path: string }[];
  text: string;
}

/** Why a prompt with these cannot go yet. */
export function trayProblem(items: readonly Item[]): string | undefined {
  if (items.some((item) => item.problem !== undefined))
    return "Not sent: a file failed to upload. Remove it or attach it again.";
  return items.some((item) => item.kept === undefined) ? "Not sent: a file is still uploading." : undefined;
}

/** A picture of an agent that takes it from a paste is no part of the text. */
const alone = (item: Item): boolean => item.kept?.attachment === "paste" && item.thumb !== undefined;

export function compose(text: string, items: readonly Item[]): Composed {
  const named = items.filter((item) => !alone(item)).map((item) => item.kept?.insert ?? "");
  const pastes = items
    .filter((item) => alone(item) && item.pasted !== true)
    .map((item) => ({ key: item.key, path: item.kept?.insert ?? "" }));
  return { pastes, text: [...named, text].filter((part) => part !== "").join(" ") };
}

/** A paste as a terminal marks it, so that the program takes it for one. */
export const bracketed = (text: string): string => `\x1b[200~${text}\x1b[201~`;
