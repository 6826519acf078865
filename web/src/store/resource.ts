/** State that the service has: read when somebody looks, and again when the service says that it changed. */
import { useEffect, useState } from "preact/hooks";
import { formatError, getErrorText } from "../api/errors.ts";
import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { type Family, onServerEvent } from "../api/stream/events.ts";
import type { EventName } from "../api/types.ts";
import { CoalescedRead } from "../lib/coalescedread.ts";

export interface Read<T> {
  /** Of the last answer; undefined until there is one. */
  data: T | undefined;
  /** Why there is no answer; empty without a failure. */
  problem: string;
}

/**
 * @param read one request, given up when the component goes or an input changes.
 * @param inputs it is read again whenever one of them is another one; what was read stays meanwhile.
 */
export function useRead<T>(
  read: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
  describe: (error: unknown) => string = formatError,
): Read<T> {
  const [found, setFound] = useState<Read<T>>({ data: undefined, problem: "" });
  useEffect(() => {
    const end = new AbortController();
    read(end.signal).then(
      (data) => end.signal.aborted || setFound({ data, problem: "" }),
      (error: unknown) => end.signal.aborted || setFound({ data: undefined, problem: describe(error) }),
    );
    return () => end.abort();
  }, inputs);
  return found;
}

export interface Resource<T> {
  /** Undefined until it was read. */
  readonly data: Signal<T | undefined>;
  /** Why the last read or action failed; empty without a failure. */
  readonly trouble: Signal<string>;
  /** An action is under way, or the first answer is awaited; reading again holds nobody up. */
  readonly busy: ReadonlySignal<boolean>;
  /** Read now, or after the read under way. */
  refresh(): Promise<void>;
  /** Run an action, then read: what failed may have changed something all the same. */
  attempt(act?: () => Promise<unknown>): Promise<void>;
  /** Read now and again at each of the events. @returns a function that ends it. */
  follow(): () => void;
}

export interface ResourceOptions<T> {
  /** Milliseconds after which a visible page reads again, for what changes without an event. */
  every?: number;
  /** What is known stays when nobody follows any more. */
  keep?: boolean;
  /** @returns the text of the trouble; empty where the error is shown elsewhere. */
  failed?: (error: unknown) => string;
  /** @returns what an event makes of the data; undefined: it has to be read. */
  apply?: (known: T, data: unknown, name: string) => T | undefined;
}

class ServerResource<T> implements Resource<T> {
  readonly data = signal<T | undefined>(undefined);
  readonly trouble = signal("");
  readonly busy = computed(
    () => this.#pending.value > 0 || (this.data.value === undefined && this.trouble.value === ""),
  );
  readonly #pending = signal(0);
  readonly #events: readonly (EventName | Family)[];
  readonly #options: ResourceOptions<T>;
  readonly #read: () => Promise<T>;
  #reads: CoalescedRead;
  #followers = 0;
  #unfollow: (() => void)[] = [];
  /** The trouble is a read's, and over with the next one that succeeds. */
  #unread = false;

  constructor(read: () => Promise<T>, events: readonly (EventName | Family)[], options: ResourceOptions<T>) {
    this.#events = events;
    this.#options = options;
    this.#read = read;
    this.#reads = this.#begin();
  }

  /** @returns a reader whose answers count until the resource is forgotten. */
  #begin(): CoalescedRead {
    const reads = new CoalescedRead(async (outdated) => {
      const isLate = () => outdated() || reads !== this.#reads;
      try {
        const found = await this.#read();
        if (isLate()) return;
        this.data.value = found;
        if (this.#unread) this.trouble.value = "";
        this.#unread = false;
      } catch (error) {
        if (isLate()) return;
        this.#fail(error);
        this.#unread = true;
      }
    });
    return reads;
  }

  refresh = (): Promise<void> => this.#reads.now();

  attempt = async (act?: () => Promise<unknown>): Promise<void> => {
    const reads = this.#reads;
    this.#pending.value++;
    this.trouble.value = "";
    this.#unread = false;
    try {
      await act?.();
    } catch (error) {
      if (reads === this.#reads) this.#fail(error);
    }
    if (reads !== this.#reads) return;
    await reads.now();
    if (reads === this.#reads) this.#pending.value--;
  };

  follow = (): (() => void) => {
    if (this.#followers++ === 0) this.#listen();
    void this.refresh();
    return () => {
      if (--this.#followers === 0) this.#forget();
    };
  };

  #fail(error: unknown): void {
    this.trouble.value = (this.#options.failed ?? getErrorText)(error);
  }

  #hear = (data: unknown, name: string): void => {
    const known = this.data.peek();
    const next = known === undefined ? undefined : this.#options.apply?.(known, data, name);
    if (next === undefined) return void this.refresh();
    this.data.value = next;
    this.#reads.markOutdated();
  };

  #listen(): void {
    // A family's listener takes an event's data and name, as that of one event does.
    this.#unfollow = this.#events.map((name) => onServerEvent(name as Family, this.#hear));
    const { every } = this.#options;
    if (every === undefined) return;
    const timer = setInterval(() => document.hidden || void this.refresh(), every);
    this.#unfollow.push(() => clearInterval(timer));
  }

  #forget(): void {
    for (const end of this.#unfollow) end();
    this.#unfollow = [];
    if (this.#options.keep) return;
    // A request without an answer does not hold up who opens the page again.
    this.#reads = this.#begin();
    this.#pending.value = 0;
    this.data.value = undefined;
    this.trouble.value = "";
  }
}

/**
 * @param read one request.
 * @param events after each of them it is read again.
 */
export function resource<T>(
  read: () => Promise<T>,
  events: readonly (EventName | Family)[] = [],
  options: ResourceOptions<T> = {},
): Resource<T> {
  return new ServerResource(read, events, options);
}

/** Follow a resource for as long as the component is there. @returns its data. */
export function useResource<T>(of: Resource<T>): T | undefined {
  useEffect(of.follow, []);
  return of.data.value;
}
