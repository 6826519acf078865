import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";
import { expect, test, vi } from "vitest";

const SOURCE = readFileSync(new URL("../../../public/sw.js", import.meta.url), "utf8");
const SCOPE = "https://host/deep/";
const KEPT = `${SCOPE}assets/kept-0123abcd.js`;

type Handler = (event: Record<string, unknown>) => void;

/** The worker of a release, with the caches and the network of a browser. */
function worker(version: string, names: string[] = []) {
  const handlers = new Map<string, Handler>();
  const contents = new Map<string, unknown>([
    [KEPT, "kept file"],
    ["login", "kept page"],
  ]);
  const cache = {
    addAll: vi.fn(() => Promise.resolve()),
    match: (key: string) => Promise.resolve(contents.get(key)),
    put: vi.fn((key: string, answer: unknown) => Promise.resolve(contents.set(key, answer))),
  };
  const caches = {
    open: vi.fn(() => Promise.resolve(cache)),
    keys: () => Promise.resolve(names),
    delete: vi.fn(() => Promise.resolve(true)),
  };
  const network = vi.fn((_: unknown): Promise<unknown> => Promise.reject(new TypeError("Failed to fetch")));
  const self = {
    registration: { scope: SCOPE },
    clients: { claim: () => Promise.resolve() },
    skipWaiting: () => Promise.resolve(),
    addEventListener: (name: string, handler: Handler) => handlers.set(name, handler),
  };
  const source = SOURCE.replace('VERSION = "dev"', `VERSION = "${version}"`);
  // What the parts do is tested beside them.
  const importScripts = () => undefined;
  runInNewContext(source, { self, caches, fetch: network, importScripts, URL, Request });
  const happen = async (name: string, event: Record<string, unknown> = {}) => {
    const waited: unknown[] = [];
    const keep = (work: unknown) => void waited.push(work);
    handlers.get(name)?.({ ...event, waitUntil: keep, respondWith: keep });
    return (await Promise.all(waited))[0];
  };
  const get = (path: string, mode = "cors", method = "GET") =>
    happen("fetch", { request: { url: new URL(path, SCOPE).href, mode, method } });
  return { happen, get, caches, cache, network };
}

test.each([
  ["api/sessions", "cors"],
  ["api/sessions", "navigate"],
  ["webview/word/", "navigate"],
  ["webview/word/assets/kept-0123abcd.js", "cors"],
  ["/assets/kept-0123abcd.js", "cors"],
  ["https://other/deep/assets/kept-0123abcd.js", "cors"],
  ["", "cors"],
  ["sw.js", "cors"],
  ["assets/plain.js", "cors"],
  ["assets/../api/me-0123abcd.js", "cors"],
])("%s (%s) goes past it", async (path, mode) => {
  const { get, network, cache } = worker("one");
  expect(await get(path, mode)).toBeUndefined();
  expect(network).not.toHaveBeenCalled();
  expect(cache.put).not.toHaveBeenCalled();
});

test("the page comes from the network, and from the copy where there is none", async () => {
  const { get, network } = worker("one");
  expect(await get("?session=a", "navigate")).toBe("kept page");
  network.mockResolvedValueOnce("new page");
  expect(await get("", "navigate")).toBe("new page");
  expect(await get("login", "navigate", "POST")).toBeUndefined();
});

test("a file whose name tells its content is asked for once", async () => {
  const { get, network, cache } = worker("one");
  expect(await get(KEPT)).toBe("kept file");
  expect(network).not.toHaveBeenCalled();
  const answer = { status: 200, type: "basic", redirected: false, clone: () => "copy" };
  network.mockResolvedValueOnce(answer);
  expect(await get("assets/more-0123abcd.css")).toBe(answer);
  expect(cache.put).toHaveBeenCalledWith(`${SCOPE}assets/more-0123abcd.css`, "copy");
  for (const bad of [{ status: 404 }, { type: "opaque" }, { redirected: true }]) {
    network.mockResolvedValueOnce({ ...answer, ...bad });
    await get("assets/other-0123abcd.css");
  }
  expect(cache.put).toHaveBeenCalledTimes(1);
});

test("a release removes the files of those before, and no one else's", async () => {
  const mine = ["tservice-shell /deep/ one", "tservice-shell /deep/ two"];
  const { happen, caches } = worker("two", [...mine, "tservice-shell / one", "other"]);
  await happen("install");
  expect(caches.open).toHaveBeenCalledWith("tservice-shell /deep/ two");
  await happen("activate");
  expect(caches.delete.mock.calls).toEqual([["tservice-shell /deep/ one"]]);
});
