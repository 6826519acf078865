/** The code on the screen, renewed as the service renews it. */
import { signal } from "@preact/signals";
import { ApiError, textOf } from "../api/errors.ts";
import { refresh as refreshDevices } from "../devices/state.ts";
import { onServerEvent } from "../stream/events.ts";
import { newQr, type QrCode, readQr, startTunnel, stopTunnel } from "./calls.ts";

export const code = signal<QrCode | undefined>(undefined);
export const trouble = signal("");
export const working = signal<"" | "start" | "stop" | "renew">("");

export async function readCode(): Promise<void> {
  try {
    code.value = await readQr();
  } catch (error) {
    code.value = undefined;
    // No tunnel: the panel says so by itself.
    if (!(error instanceof ApiError && error.status === 404)) trouble.value = textOf(error);
  }
}

/** @returns a function that ends the following. */
export function followCode(): () => void {
  void readCode();
  const stops = ["tunnel:qrRotated", "tunnel:qrRegenerated", "tunnel:qrAuthUsed"].map((name) =>
    onServerEvent(name, () => void readCode()),
  );
  return () => {
    for (const stop of stops) stop();
    code.value = undefined;
    trouble.value = "";
  };
}

async function work(what: "start" | "stop" | "renew", act: () => Promise<unknown>): Promise<void> {
  working.value = what;
  trouble.value = "";
  try {
    await act();
  } catch (error) {
    trouble.value = textOf(error);
  } finally {
    working.value = "";
  }
  await Promise.all([refreshDevices(), readCode()]);
}

export const start = () => work("start", startTunnel);
export const stop = () => work("stop", stopTunnel);
export const renew = () => work("renew", newQr);
