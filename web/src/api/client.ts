/** Requests to the service. */
import { unwrap } from "./envelope.ts";
import { ApiError, createUnreachableError } from "./errors.ts";
import { KEY_HEADER, pageKey } from "./key.ts";
import { serviceUrl } from "./paths.ts";
import type { Operations } from "./types.ts";

type Listener = () => void;

const AGAIN_MS = 300;

const onUnauthorized = new Set<Listener>();

/** Tell `listener` whenever an answer says that nobody is signed in. */
export function whenUnauthorized(listener: Listener): () => void {
  onUnauthorized.add(listener);
  return () => onUnauthorized.delete(listener);
}

export function reportUnauthorized(): void {
  for (const listener of onUnauthorized) listener();
}

const onForbidden = new Set<Listener>();

/** Tell `listener` whenever this person's password may have to be changed first (protocol-login). */
export function whenForbidden(listener: Listener): () => void {
  onForbidden.add(listener);
  return () => onForbidden.delete(listener);
}

export function reportForbidden(): void {
  for (const listener of onForbidden) listener();
}

const onKeyWanted = new Set<Listener>();

/** Tell `listener` whenever an answer says that this page was let in without its key. */
export function whenKeyWanted(listener: Listener): () => void {
  onKeyWanted.add(listener);
  return () => onKeyWanted.delete(listener);
}

export function checkForKeyRequest(response: Response): void {
  if (response.headers.has(KEY_HEADER)) for (const listener of onKeyWanted) listener();
}

function report(error: unknown, anonymous: boolean): void {
  if (!(error instanceof ApiError) || anonymous) return;
  if (error.status === 401) reportUnauthorized();
  if (error.code === "PASSWORD_CHANGE_REQUIRED") reportForbidden();
}

function retryAfterOf(response: Response): number | undefined {
  const value = Number(response.headers.get("Retry-After"));
  return Number.isFinite(value) && value > 0 ? value : undefined;
}

function isJson(response: Response): boolean {
  return (response.headers.get("Content-Type") ?? "").includes("json");
}

interface Received {
  response: Response;
  text: string;
}

async function attempt(path: string, init: RequestInit): Promise<Received> {
  try {
    const url = serviceUrl(path, document.baseURI);
    const response = await fetch(url, { credentials: "same-origin", ...init });
    return { response, text: await response.text() };
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw createUnreachableError();
  }
}

/** What is only read is asked for once more: a device that changes its network cuts what is under way. */
async function send(path: string, init: RequestInit): Promise<Received> {
  try {
    return await attempt(path, init);
  } catch (error) {
    if (init.method !== "GET" || !(error instanceof ApiError)) throw error;
  }
  await new Promise((done) => setTimeout(done, AGAIN_MS));
  return attempt(path, init);
}

export interface RequestOptions {
  body?: unknown;
  signal?: AbortSignal;
  /** A sign-in attempt itself: its 401 means a wrong password. */
  anonymous?: boolean;
  /** Shown instead of this page's own. */
  key?: string;
}

function initOf(method: string, options: RequestOptions): RequestInit {
  const headers: Record<string, string> = {
    Accept: "application/json",
    [KEY_HEADER]: options.key ?? pageKey(),
  };
  const init: RequestInit = { method, headers };
  if (options.signal) init.signal = options.signal;
  if (options.body !== undefined) {
    init.body = JSON.stringify(options.body);
    init.headers = { ...headers, "Content-Type": "application/json" };
  }
  return init;
}

/**
 * @returns the envelope's `data`.
 * @throws ApiError for every failure, also when the service cannot be reached (status 0).
 */
export async function request<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
  const { response, text } = await send(path, initOf(method, options));
  checkForKeyRequest(response);
  try {
    const answer = {
      status: response.status,
      json: isJson(response),
      text,
      retryAfter: retryAfterOf(response),
    };
    return unwrap(answer) as T;
  } catch (error) {
    report(error, options.anonymous === true);
    throw error;
  }
}

type Method = "get" | "post" | "put" | "patch" | "delete";

/** Paths with an operation of this method. */
type PathOf<M extends Method> = {
  [Path in keyof Operations]: M extends keyof Operations[Path] ? Path : never;
}[keyof Operations];

type Part<Operation, Name extends string> = Operation extends Record<Name, infer Found> ? Found : never;

/** Lists are not changed by sending them, and a field without a value is not sent. */
type Sent<T> = T extends readonly (infer Item)[]
  ? readonly Sent<Item>[]
  : T extends object
    ? { [Field in keyof T]: Sent<T[Field]> | (undefined extends T[Field] ? undefined : never) }
    : T;

type Names<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never;

type Input<Path, Operation> = ([Names<Path>] extends [never]
  ? unknown
  : { path: Record<Names<Path>, string> }) & {
  [Key in keyof Operation as Key extends "query" | "body" ? Key : never]: Sent<Operation[Key]>;
} & Pick<RequestOptions, "anonymous" | "key"> & { signal?: AbortSignal | undefined };

type Call<M extends Method> = <Path extends PathOf<M>>(
  path: Path,
  ...input: object extends Input<Path, Part<Operations[Path], M>>
    ? [input?: Input<Path, Part<Operations[Path], M>>]
    : [input: Input<Path, Part<Operations[Path], M>>]
) => Promise<Part<Part<Operations[Path], M>, "answer">>;

type QueryValue = string | number | boolean | readonly string[] | null | undefined;

interface AnyInput extends RequestOptions {
  path?: Record<string, string>;
  query?: Record<string, QueryValue>;
}

/** @returns the query with its question mark; what has no value is left out. */
function formatQuery(query: Record<string, QueryValue> = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const each of Array.isArray(value) ? value : [value ?? []].flat()) params.append(name, String(each));
  return params.size > 0 ? `?${params}` : "";
}

function callWith<M extends Method>(method: M): Call<M> {
  const call = (path: string, { path: names, query, ...options }: AnyInput = {}) => {
    const filled = path
      .slice(1)
      .replace(/{(\w+)}/g, (_, name: string) => encodeURIComponent(names?.[name] ?? ""));
    return request(method.toUpperCase(), filled + formatQuery(query), options);
  };
  return call as Call<M>;
}

/** The operations of the service by their path, as the OpenAPI document has them. */
export const api = {
  get: callWith("get"),
  post: callWith("post"),
  put: callWith("put"),
  patch: callWith("patch"),
  delete: callWith("delete"),
};
