/** What the page says of signed-in devices. */
import type { Device } from "../tunnel/calls.ts";
import { deviceName } from "./useragent.ts";

const METHODS: Record<string, string> = {
  login: "by password",
  basic: "by password, as a program",
  qr: "by QR code",
};

export const methodText = (method: string): string => METHODS[method] ?? `by ${method}`;

/** This device first, then the newest. */
export function inOrder(devices: readonly Device[]): Device[] {
  return devices.toSorted(
    (a, b) => Number(b.current === true) - Number(a.current === true) || b.createdAt - a.createdAt,
  );
}

export const others = (devices: readonly Device[]): Device[] =>
  devices.filter((device) => device.current !== true);

/** A sign-in by QR code, as its event tells of it. */
export interface QrUse {
  id: string;
  ip: string;
  name: string;
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** @returns undefined for what names no signed-in device. */
export function readQrUse(data: unknown): QrUse | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const { id, ip, ua } = data as Record<string, unknown>;
  if (text(id) === "") return undefined;
  return { id: text(id), ip: text(ip) || "an unknown address", name: deviceName(text(ua)) };
}
