/** The code on the screen, renewed as the service renews it. */
import { signal } from "@preact/signals";
import { api } from "../../api/client.ts";
import { ApiError, getErrorText } from "../../api/errors.ts";
import { onServerEvent } from "../../api/stream/events.ts";
import type { Qr } from "../../api/types.ts";
import { CoalescedRead } from "../../lib/coalescedread.ts";
import { status } from "../devices/state.ts";

/** A code lives so long (protocol-qr), in milliseconds. */
export const LIFE_MS = 60_000;

export interface Countdown {
  /** Whole seconds left, 0 once it is over. */
  seconds: number;
  /** From 1 down to 0. */
  share: number;
}

export function countdown(expiresAt: number, now: number): Countdown {
  const left = Math.max(0, Math.min(LIFE_MS, expiresAt - now));
  return { seconds: Math.ceil(left / 1000), share: left / LIFE_MS };
}

const NAMELESS = /^\s*<svg(?![^>]*\sxmlns=)/;

/** For an `img`, where no script of an image can run; within HTML its language needs no name. */
export function imageOf(svg: string): string {
  const whole = svg.replace(NAMELESS, '<svg xmlns="http://www.w3.org/2000/svg"');
  return `data:image/svg+xml,${encodeURIComponent(whole)}`;
}

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
    return "Set a password first: without one, anyone who knows the address can run commands here. Set it on this page, or set SERVICE_PASSWORD and restart the server.";
  if (/no program/.test(text))
    return `${text}. Install it, or set SERVICE_TUNNEL_COMMAND to tailscale or another program and restart the server.`;
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
