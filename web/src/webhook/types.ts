/** The webhook as the service tells it (protocol-webhooks): never its URL. */
import type { Webhook } from "../api/types.ts";

export type { Result, Webhook } from "../api/types.ts";
export type Kind = Webhook["kind"];

/** What is absent stays; an empty URL is cleared. */
export type Change = Partial<Pick<Webhook, "enabled" | "kind" | "scope">> & { url?: string };
export type Scope = Webhook["scope"];
