/** What a person does with web tabs. */
import { signal } from "@preact/signals";
import { getErrorText } from "../../api/errors.ts";
import type { WebView } from "../../api/types.ts";
import { openPage } from "../../ui/pages/registry.ts";
import { CoalescedRead } from "../../lib/coalescedread.ts";
import { onServerEvent } from "../../api/stream/events.ts";
import { showError } from "../../store/toasts.ts";
import { nameOf } from "./addresses.ts";
import * as calls from "./calls.ts";
import { closeTab, showTab } from "./state.ts";

export const tabs = signal<readonly WebView[] | undefined>(undefined);
export const trouble = signal("");

const reads = new CoalescedRead(async (outdated) => {
  try {
    const found = await calls.listTabs();
    if (!outdated()) tabs.value = found.webviews;
    trouble.value = "";
  } catch (error) {
    trouble.value = getErrorText(error);
  }
});

/** @returns a function that stops following. */
export function followTabs(): () => void {
  void reads.now();
  return onServerEvent("webview:changed", () => void reads.now());
}

export function showWebTab(tab: WebView): void {
  showTab({ id: tab.id, name: tab.name, url: tab.url });
  openPage.value = undefined;
}

/** @throws ApiError as the service refuses it. */
export async function createTab(name: string, url: string): Promise<void> {
  showWebTab((await calls.createTab({ name: name || nameOf(url), url })).webview);
}

/** One that is kept already is not kept twice. */
export async function openAddress(url: string): Promise<void> {
  try {
    const known = (await calls.listTabs()).webviews.find((tab) => tab.url === url);
    if (known) showWebTab(known);
    else await createTab(nameOf(url), url);
  } catch (error) {
    showError("Couldn't open", error);
  }
}

export async function removeTab(tab: WebView): Promise<void> {
  closeTab(tab.id);
  try {
    await calls.deleteTab(tab.id);
  } catch (error) {
    showError("Couldn't remove the web tab", error);
  }
  await reads.now();
}

const REACH_MS = 2_000;

/**
 * Where the frame is to lead: to the listener of web tabs where this browser reaches it.
 *
 * Any answer from there will do, and none of them can be read.
 */
export async function addressOf(id: string): Promise<string> {
  const { embedUrl, isolatedUrl } = await calls.openTab(id);
  if (isolatedUrl === undefined) return embedUrl;
  try {
    const init = { mode: "no-cors", credentials: "omit", signal: AbortSignal.timeout(REACH_MS) } as const;
    await fetch(new URL("/", isolatedUrl), init);
    return isolatedUrl;
  } catch {
    return embedUrl;
  }
}
