/** The webhook's routes (protocol-webhooks). */
import { request } from "../api/client.ts";
import type { Change, Result, Webhook } from "./types.ts";

export const readWebhook = () => request<Webhook>("GET", "api/webhook");

export const changeWebhook = (change: Change) => request<Webhook>("PUT", "api/webhook", { body: change });

export const testWebhook = () => request<Result>("POST", "api/webhook/test");
