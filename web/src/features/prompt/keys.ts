/** What a key does in the prompt box. */
import { isComposing } from "../../ui/composing.ts";

export interface PromptKey {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
  altKey: boolean;
  isComposing: boolean;
  keyCode?: number;
}

export interface Caret {
  text: string;
  start: number;
  end: number;
}

export type PromptAction = "send" | "older" | "newer" | "leave";

function ofEnter(key: PromptKey, enterSends: boolean): PromptAction | undefined {
  if (key.ctrlKey || key.metaKey) return "send";
  return enterSends && !key.shiftKey && !key.altKey ? "send" : undefined;
}

const plain = (key: PromptKey): boolean => !key.ctrlKey && !key.metaKey && !key.shiftKey && !key.altKey;

/**
 * @param enterSends whether Enter alone sends; Ctrl+Enter always does.
 * @returns undefined where the key is the text field's own.
 */
export function getPromptAction(key: PromptKey, caret: Caret, enterSends: boolean): PromptAction | undefined {
  if (isComposing(key)) return undefined;
  if (key.key === "Enter") return ofEnter(key, enterSends);
  if (!plain(key)) return undefined;
  if (key.key === "Escape") return "leave";
  const firstLine = !caret.text.slice(0, caret.start).includes("\n");
  const lastLine = !caret.text.slice(caret.end).includes("\n");
  if (key.key === "ArrowUp" && firstLine) return "older";
  return key.key === "ArrowDown" && lastLine ? "newer" : undefined;
}
