/** The webhook as the service tells it (protocol-webhooks): never its URL. */
import type { WebhookResponse } from "../../api/types.ts";

export type { DeliveryResultResponse, WebhookResponse } from "../../api/types.ts";
export type Kind = WebhookResponse["kind"];

/** What is absent stays; an empty URL is cleared. */
export type Change = Partial<Pick<WebhookResponse, "enabled" | "kind" | "scope">> & { url?: string };
export type Scope = WebhookResponse["scope"];
