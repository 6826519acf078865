/**
 * The client id of this tab, the same after a reload and another one in a duplicated tab.
 *
 * A duplicate copies the session storage, and two pages with one id would throw each other out
 * (close code 4010). So the id lies in the storage only while no page uses it.
 */
import { uuid } from "../../../lib/ids.ts";

const KEY = "tservice.tab";

export type TabStorage = Pick<Storage, "getItem" | "setItem" | "removeItem">;

export function takeTabId(storage: TabStorage, make: () => string = uuid): string {
  const kept = storage.getItem(KEY);
  storage.removeItem(KEY);
  return kept ?? make();
}

export function leaveTabId(storage: TabStorage, id: string): void {
  storage.setItem(KEY, id);
}

let tabId: string | undefined;

function ofThisTab(): string {
  if (tabId !== undefined) return tabId;
  const id = takeTabId(sessionStorage);
  tabId = id;
  addEventListener("pagehide", () => leaveTabId(sessionStorage, id));
  addEventListener("pageshow", () => takeTabId(sessionStorage));
  return id;
}

/** At most 128 characters (protocol-exactly-once): two UUIDs and a dash. */
export function cidFor(sessionId: string): string {
  return `${ofThisTab()}-${sessionId}`.slice(0, 128);
}
