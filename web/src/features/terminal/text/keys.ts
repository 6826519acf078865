/** Copy and paste keys, by platform, as its own terminals have them. */

export type Platform = "mac" | "windows" | "other";

export function platformOf(userAgent: string): Platform {
  if (/Mac|iPhone|iPad/.test(userAgent)) return "mac";
  return /Windows/.test(userAgent) ? "windows" : "other";
}

export interface Key {
  code: string;
  ctrlKey: boolean;
  shiftKey: boolean;
  altKey: boolean;
  metaKey: boolean;
}

/**
 * `copy` takes the selection; `browser` leaves the key to the browser, whose own copy or paste
 * event then reaches the terminal; `program` sends it to the program.
 *
 * Ctrl+C with a selection copies on Windows only, where its terminals do; elsewhere it always
 * interrupts. Ctrl+V alone is the program's (visual block, quoted insert) but on Windows.
 */
export function clipboardKey(
  key: Key,
  selected: boolean,
  platform: Platform,
): "copy" | "browser" | "program" {
  if (key.altKey || (key.code !== "KeyC" && key.code !== "KeyV")) return "program";
  const copies = key.code === "KeyC";
  if (platform === "mac") return key.metaKey && !key.ctrlKey ? "browser" : "program";
  if (!key.ctrlKey || key.metaKey) return "program";
  if (key.shiftKey) return copies ? "copy" : "browser";
  if (platform !== "windows") return "program";
  if (copies) return selected ? "copy" : "program";
  return "browser";
}
