/** The webhook's routes (protocol-webhooks). */
import { request } from "../../api/client.ts";
import type { Change, DeliveryResultResponse, WebhookResponse } from "./types.ts";

export const readWebhook = () => request<WebhookResponse>("GET", "api/webhook");

export const changeWebhook = (change: Change) =>
  request<WebhookResponse>("PUT", "api/webhook", { body: change });

export const testWebhook = () => request<DeliveryResultResponse>("POST", "api/webhook/test");
