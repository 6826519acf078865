/** Which addresses in the output may be followed. */

/** Programs write what they like: nothing but web addresses is followed. */
export function isWebAddress(text: string): boolean {
  try {
    const { protocol } = new URL(text);
    return protocol === "http:" || protocol === "https:";
  } catch {
    return false;
  }
}
