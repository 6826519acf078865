/** The page's service worker: it keeps the shell for when there is no network, and shows what is pushed. */
import { effect } from "@preact/signals";
import { serviceUrl } from "../../api/paths.ts";
import { hasReceivedInit } from "../../api/stream/connection.ts";

/** Its folder is its scope: it works under any base path. */
export const registerWorker = (): Promise<ServiceWorkerRegistration> =>
  navigator.serviceWorker.register(serviceUrl("sw.js", document.baseURI));

/** Browsers know when nothing else is to be done; one that does not tell waits so long (ms). */
const LATER_MS = 3_000;

/**
 * Once the page has its sessions and nothing else to do: its script is given to nobody who is not signed
 * in. `npm run dev` serves files that change.
 */
export function startWorker(): void {
  if (!("serviceWorker" in navigator) || !isSecureContext || import.meta.env.DEV) return;
  const register = () =>
    void registerWorker().catch((error: unknown) =>
      console.info("this browser keeps no copy of the page", error),
    );
  const later = () =>
    "requestIdleCallback" in window ? requestIdleCallback(register) : setTimeout(register, LATER_MS);
  let begun = false;
  effect(() => {
    if (!hasReceivedInit.value || begun) return;
    begun = true;
    later();
  });
}
