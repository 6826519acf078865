/** A program's wish to set the clipboard (OSC 52); asking for its content is never answered. */

const MOST_CHARS = 1024 * 1024;

/** @returns the text to copy, or undefined when the sequence is no such wish. */
export function clipboardWish(data: string): string | undefined {
  const at = data.indexOf(";");
  const encoded = data.slice(at + 1);
  if (at < 0 || encoded === "" || encoded === "?" || encoded.length > MOST_CHARS) return undefined;
  try {
    const bytes = Uint8Array.from(atob(encoded), (char) => char.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
