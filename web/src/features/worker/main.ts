/** Parts of the service worker that share the page's rules; `public/sw.js` loads and calls them. */
import { sendAnswer, readNotice, createWorkerContext } from "./requests.ts";
import { keepShared, sharedOf } from "./shared.ts";

interface FetchEvent extends Event {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
}

const worker = globalThis as unknown as {
  readonly registration: { readonly scope: string };
  addEventListener(name: "fetch", listener: (event: FetchEvent) => void): void;
  parts: unknown;
};
const { scope } = worker.registration;
const by = createWorkerContext(scope);

/** The service never sees it: what was shared stays in the browser. */
async function share(request: Request): Promise<Response> {
  const inbox = new URL("./?page=shared", scope).href;
  try {
    await keepShared(scope, sharedOf(await request.formData()));
  } catch (error) {
    console.warn("what was shared could not be kept", error);
  }
  return Response.redirect(inbox, 303);
}

worker.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method === "POST" && request.url === new URL("share", scope).href)
    event.respondWith(share(request));
});

worker.parts = {
  asked: (sessionId: unknown) => readNotice(by, sessionId),
  answered: (action: string, data: unknown) => sendAnswer(by, action, data),
};
