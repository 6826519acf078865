/** The webhook as the service tells it (protocol-webhooks): never its URL. */

export type Kind = "topic" | "chat_a" | "chat_b" | "generic";
export type Scope = "attention" | "all";

export interface Result {
  ok: boolean;
  /** The receiver's HTTP status, where there was one. */
  status?: number;
  error?: string;
  /** Unix milliseconds. */
  at: number;
}

export interface Webhook {
  enabled: boolean;
  kind: Kind;
  scope: Scope;
  hasUrl: boolean;
  urlMasked: string | null;
  lastResult: Result | null;
}

/** What is absent stays; an empty URL is cleared. */
export type Change = Partial<Pick<Webhook, "enabled" | "kind" | "scope">> & { url?: string };
