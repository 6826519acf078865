/** The code on the screen, renewed as the service renews it. */
import { signal } from "@preact/signals";
import { api } from "../../api/client.ts";
import { ApiError, getErrorText } from "../../api/errors.ts";
import { onServerEvent } from "../../api/stream/events.ts";
import type { Qr } from "../../api/types.ts";
import { CoalescedRead } from "../../lib/coalescedread.ts";
import { status } from "../devices/state.ts";

export const code = signal<Qr | undefined>(undefined);
export const trouble = signal("");
export const working = signal<"" | "start" | "stop" | "renew">("");

const codes = new CoalescedRead(async (outdated) => {
  try {
    const found = await api.get("/api/tunnel/qr");
    // The code before this one lets nobody in.
    if (!outdated()) code.value = found;
  } catch (error) {
    code.value = undefined;
    // No tunnel: the panel says so by itself.
    if (!(error instanceof ApiError && error.status === 404)) trouble.value = getErrorText(error);
  }
});

export const readCode = (): Promise<void> => codes.now();

/** The events after which there is another code. */
const READ_AT = /^tunnel:(?:started|qr)/;

function tunnelEvent(data: unknown, name: string): void {
  const { error } = data as { error?: unknown };
  if (name === "tunnel:error" && typeof error === "string") trouble.value = words(error, 422);
  else if (name === "tunnel:stopped") code.value = undefined;
  else if (READ_AT.test(name)) void readCode();
}

/**
 * @param running there is a code only while a tunnel runs.
 * @returns a function that ends the following.
 */
export function followCode(running: boolean): () => void {
  if (running) void readCode();
  const stopHearing = onServerEvent("tunnel:", tunnelEvent);
  return () => {
    stopHearing();
    code.value = undefined;
    trouble.value = "";
  };
}

/** What the person can do about it stands behind what the service says. */
function words(text: string, status: number): string {
  if (status === 403)
    return "Set a password first: without one, anyone who knows the address can run commands here. Set SERVICE_PASSWORD or use multi-user mode, then restart the server.";
  if (/no program/.test(text))
    return `${text}. Install it, or set SERVICE_TUNNEL_COMMAND to another program and restart the server.`;
  return text;
}

async function work(what: "start" | "stop" | "renew", act: () => Promise<unknown>): Promise<void> {
  working.value = what;
  trouble.value = "";
  try {
    await act();
    if (what !== "stop") await readCode();
  } catch (error) {
    trouble.value = words(getErrorText(error), error instanceof ApiError ? error.status : 0);
  } finally {
    working.value = "";
  }
  await status.refresh();
}

export const start = () => work("start", () => api.post("/api/tunnel/start"));
export const stop = () => work("stop", () => api.post("/api/tunnel/stop"));
export const renew = () => work("renew", () => api.post("/api/tunnel/qr/regenerate"));
