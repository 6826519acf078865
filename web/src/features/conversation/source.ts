/** The items of one conversation as this page holds them, kept in step with the service. */
import { signal } from "@preact/signals";
import { api } from "../../api/client.ts";
import { formatError } from "../../api/errors.ts";
import { onServerEvent } from "../../api/stream/events.ts";
import type { ConversationItemResponse as Item } from "../../api/types.ts";
import { CoalescedRead } from "../../lib/coalescedread.ts";
import { mergeItems } from "./items.ts";

/** Items of a request. */
const PAGE = 200;
const WHOLE_PAGE = 500;
/** Pages of a conversation that are read to search or export it. */
const PAGES_MAX = 200;
/** Milliseconds after which the service is asked again: it follows a conversation for ten minutes. */
const RENEW_MS = 120_000;

export interface Query {
  after?: string;
  before?: number;
  limit: number;
}

export interface Page {
  items: Item[];
  cursor: string | null;
  before: number | null;
  hasMore: boolean;
  reset?: boolean;
  cut?: boolean;
  source?: { id: string | null; earlier: string[]; cut?: boolean } | null;
}

/** What a conversation is read with. */
export interface Reader {
  page: (query: Query, signal?: AbortSignal) => Promise<Page>;
  item: (id: string) => Promise<Item>;
  /** Of which events tell; absent: it does not change. */
  followed?: { sessionId: string; branch: string | undefined };
  /** @returns the same of a sub-agent. */
  branch: (id: string) => Reader;
}

export function readSessionConversation(sessionId: string, branch?: string): Reader {
  const path = { id: sessionId };
  const more = branch === undefined ? {} : { branch };
  return {
    page: (query, signal) =>
      api.get("/api/sessions/{id}/conversation", {
        path,
        query: { ...query, ...more },
        ...(signal && { signal }),
      }),
    item: async (item) =>
      (
        await api.get("/api/sessions/{id}/conversation/items/{item}", {
          path: { ...path, item },
          query: more,
        })
      ).item,
    followed: { sessionId, branch },
    branch: (id) => readSessionConversation(sessionId, id),
  };
}

export function readStoredConversation(mode: string, conversation: string, branch?: string): Reader {
  const path = { conversation };
  const more = branch === undefined ? { mode } : { mode, branch };
  return {
    page: (query, signal) =>
      api.get("/api/history/sessions/{conversation}/conversation", {
        path,
        query: { ...query, ...more },
        ...(signal && { signal }),
      }),
    item: async (item) =>
      (
        await api.get("/api/history/sessions/{conversation}/conversation/items/{item}", {
          path: { ...path, item },
          query: more,
        })
      ).item,
    branch: (id) => readStoredConversation(mode, conversation, id),
  };
}

export class Conversation {
  readonly items = signal<readonly Item[]>([]);
  readonly problem = signal("");
  readonly loaded = signal(false);
  readonly hasOlder = signal(false);
  readonly cut = signal(false);
  /** Ids of the session's earlier conversations. */
  readonly earlier = signal<readonly string[]>([]);
  readonly reader: Reader;
  #cursor: string | null = null;
  #before: number | null = null;
  #older: Promise<void> | undefined;
  readonly #reads = new CoalescedRead(() => this.#catchUp());

  constructor(reader: Reader) {
    this.reader = reader;
  }

  /** Read, and follow. @returns a function that ends it. */
  start(): () => void {
    void this.#reads.now();
    const { followed } = this.reader;
    if (!followed) return () => undefined;
    const again = () => void this.#reads.now();
    const ends = [
      onServerEvent("session:conversation", ({ id, branch }) => {
        if (id === followed.sessionId && branch === followed.branch) again();
      }),
      onServerEvent("init", again),
    ];
    const timer = setInterval(() => document.visibilityState === "visible" && again(), RENEW_MS);
    return () => {
      clearInterval(timer);
      for (const end of ends) end();
    };
  }

  /** Read the page before what is held; at once for several askers. */
  loadOlder(): Promise<void> {
    this.#older ??= this.#readOlder().finally(() => (this.#older = undefined));
    return this.#older;
  }

  /** Read all that is before, as far as its limit. */
  async loadAll(): Promise<void> {
    for (let n = 0; n < PAGES_MAX && this.hasOlder.value && this.problem.value === ""; n += 1)
      await this.loadOlder();
  }

  /** Put the whole item in the place of a shortened one. */
  async loadWhole(id: string): Promise<void> {
    const whole = await this.reader.item(id);
    this.items.value = mergeItems(this.items.value, [whole], false);
  }

  async #readOlder(): Promise<void> {
    if (this.#before === null) return;
    try {
      const page = await this.reader.page({ before: this.#before, limit: WHOLE_PAGE });
      this.items.value = [...page.items, ...this.items.value];
      this.#keepEdge(page);
      this.problem.value = "";
    } catch (error) {
      this.problem.value = formatError(error);
    }
  }

  #keepEdge(page: Page): void {
    this.#before = page.before;
    this.hasOlder.value = page.before !== null;
    this.cut.value = page.cut === true || page.source?.cut === true;
  }

  async #catchUp(): Promise<void> {
    try {
      let more = true;
      while (more) {
        const since = this.#cursor;
        const page = await this.reader.page(
          since === null ? { limit: PAGE } : { after: since, limit: WHOLE_PAGE },
        );
        const begins = since === null || page.reset === true;
        this.items.value = begins ? page.items : mergeItems(this.items.value, page.items, true);
        if (begins) this.#keepEdge(page);
        this.#cursor = page.cursor;
        this.earlier.value = page.source?.earlier ?? [];
        more = !begins && page.hasMore;
      }
      this.problem.value = "";
    } catch (error) {
      this.problem.value = formatError(error);
    }
    this.loaded.value = true;
  }
}
