/** What a person does with web tabs. */
import { api } from "../../api/client.ts";
import type { WebView } from "../../api/types.ts";
import { openPage } from "../../ui/pages/registry.ts";
import { resource } from "../../store/resource.ts";
import { showError } from "../../store/toasts.ts";
import { nameOf, closeTab, showTab } from "./state.ts";

const listTabs = async () => (await api.get("/api/webviews")).webviews;

export const tabs = resource(listTabs, ["webview:changed"], { keep: true });

export function showWebTab(tab: WebView): void {
  showTab({ id: tab.id, name: tab.name, url: tab.url });
  openPage.value = undefined;
}

/** @throws ApiError as the service refuses it. */
export async function createTab(name: string, url: string): Promise<void> {
  const body = { name: name || nameOf(url), url };
  showWebTab((await api.post("/api/webviews", { body })).webview);
}

/** One that is kept already is not kept twice. */
export async function openAddress(url: string): Promise<void> {
  try {
    const known = (await listTabs()).find((tab) => tab.url === url);
    if (known) showWebTab(known);
    else await createTab(nameOf(url), url);
  } catch (error) {
    showError("Couldn't open", error);
  }
}

export async function removeTab(tab: WebView): Promise<void> {
  closeTab(tab.id);
  try {
    await api.delete("/api/webviews/{id}", { path: { id: tab.id } });
  } catch (error) {
    showError("Couldn't remove the web tab", error);
  }
  await tabs.refresh();
}

const REACH_MS = 2_000;

/**
 * Where the frame is to lead: to the listener of web tabs where this browser reaches it.
 *
 * Any answer from there will do, and none of them can be read.
 */
export async function addressOf(id: string): Promise<string> {
  const { embedUrl, isolatedUrl } = await api.post("/api/webviews/{id}/open", { path: { id } });
  if (isolatedUrl === undefined) return embedUrl;
  try {
    const init = { mode: "no-cors", credentials: "omit", signal: AbortSignal.timeout(REACH_MS) } as const;
    await fetch(new URL("/", isolatedUrl), init);
    return isolatedUrl;
  } catch {
    return embedUrl;
  }
}
