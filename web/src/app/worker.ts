/** The page's service worker: it keeps the shell for when there is no network, and shows what is pushed. */
import { serviceUrl } from "../api/paths.ts";

/** Its folder is its scope: it works under any base path. */
export const registerWorker = (): Promise<ServiceWorkerRegistration> =>
  navigator.serviceWorker.register(serviceUrl("sw.js", document.baseURI));

/** Browsers know when nothing else is to be done; one that does not tell waits so long (ms). */
const LATER_MS = 3_000;

/** Once the page is there and has nothing else to do; `npm run dev` serves files that change. */
export function startWorker(): void {
  if (!("serviceWorker" in navigator) || !isSecureContext || import.meta.env.DEV) return;
  const register = () =>
    void registerWorker().catch((error: unknown) =>
      console.info("this browser keeps no copy of the page", error),
    );
  const later = () =>
    "requestIdleCallback" in window ? requestIdleCallback(register) : setTimeout(register, LATER_MS);
  if (document.readyState === "complete") later();
  else addEventListener("load", later, { once: true });
}
