/** Which web tabs are open in this window, and which of them is in front. */
import { signal } from "@preact/signals";

const LOCAL =
  /\bhttps?:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])(?![\w.-])(?::\d{1,5})?(?:\/[^\s"'<>`|)\]}]*)?/g;

/** @returns each address once; a wildcard address is that of the machine itself. */
export function localAddresses(text: string): string[] {
  const found = new Set<string>();
  for (const [address] of text.matchAll(LOCAL)) {
    const plain = address.replace(/[.,;:!?]+$/, "");
    try {
      const url = new URL(plain);
      if (url.hostname === "0.0.0.0" || url.hostname === "[::]") url.hostname = "localhost";
      found.add(url.href);
    } catch {
      // A port that is none.
    }
  }
  return [...found];
}

/** `localhost:5173`, as a name for the tab. */
export function nameOf(address: string): string {
  const url = new URL(address);
  return (url.host + (url.pathname === "/" ? "" : url.pathname)).slice(0, 60);
}

export interface OpenTab {
  id: string;
  name: string;
  url: string;
}

/** More than this at a time would be more than a row has room for. */
export const OPEN_MAX = 8;

export const openTabs = signal<readonly OpenTab[]>([]);
/** Undefined: a session is in front. */
export const frontTab = signal<string | undefined>(undefined);

/** Bring a tab to the front; the one that was opened first gives way where there are too many. */
export function showTab(tab: OpenTab): void {
  const others = openTabs.peek().filter((other) => other.id !== tab.id);
  const known = openTabs.peek().some((other) => other.id === tab.id);
  openTabs.value = known
    ? openTabs.peek().map((other) => (other.id === tab.id ? tab : other))
    : [...others.slice(-(OPEN_MAX - 1)), tab];
  frontTab.value = tab.id;
}

export function closeTab(id: string): void {
  openTabs.value = openTabs.peek().filter((tab) => tab.id !== id);
  if (frontTab.peek() === id) frontTab.value = undefined;
}
