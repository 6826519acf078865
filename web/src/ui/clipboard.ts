/** The clipboard, also on plain http, where browsers hide their clipboard interface. */

function copyBySelection(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "offscreen";
  // Inside an open modal dialog the rest of the page cannot hold a selection.
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  const focused = document.activeElement;
  area.select();
  try {
    return document.execCommand("copy");
  } finally {
    area.remove();
    if (focused instanceof HTMLElement) focused.focus();
  }
}

/** @returns false when the browser does not let this page copy. */
export async function copyText(text: string): Promise<boolean> {
  if (!navigator.clipboard) return copyBySelection(text);
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** @returns undefined when the browser does not let this page read the clipboard. */
export async function readClipboard(): Promise<string | undefined> {
  if (!navigator.clipboard?.readText) return undefined;
  try {
    return await navigator.clipboard.readText();
  } catch {
    return undefined;
  }
}
