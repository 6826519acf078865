/** What the page says of signed-in devices. */
import type { AuthSession } from "../../api/types.ts";
import { table } from "../../lib/table.ts";

/** The first that fits counts: most browsers also name the ones that they descend from. */
const BROWSERS: [RegExp, string][] = [
  [/\b(?:Edg|EdgA|EdgiOS)\//, "Edge"],
  [/\b(?:OPR|Opera)\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:Chrome|CriOS|HeadlessChrome)\//, "Chrome"],
  [/\bVersion\/.*Safari\//, "Safari"],
];
const SYSTEMS: [RegExp, string][] = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bMac OS X\b|\bMacintosh\b/, "Mac"],
  [/\bLinux\b/, "Linux"],
];
const PHONES = new Set(["iPhone", "iPad", "Android"]);
const LONGEST = 40;

const find = (table: [RegExp, string][], text: string): string | undefined =>
  table.find(([pattern]) => pattern.test(text))?.[1];

/** A program's own word for itself: `curl/8.5.0` is `curl`. */
function program(text: string): string {
  const word = text.split(/[/\s(]/, 1)[0] ?? "";
  return word.slice(0, LONGEST) || "Unknown device";
}

/** `Firefox on Android`, `curl`, `Unknown device`. */
export function deviceName(ua: string): string {
  const browser = find(BROWSERS, ua);
  const system = find(SYSTEMS, ua);
  if (browser && system) return `${browser} on ${system}`;
  return browser ?? (system && ua.startsWith("Mozilla/") ? `Browser on ${system}` : program(ua));
}

export type Shape = "phone" | "desk" | "program";

export function shapeOf(ua: string): Shape {
  if (PHONES.has(find(SYSTEMS, ua) ?? "")) return "phone";
  return find(BROWSERS, ua) || ua.startsWith("Mozilla/") ? "desk" : "program";
}

const METHODS: Record<string, string> = table({
  login: "with a password",
  basic: "with a password, from a script",
  qr: "with a QR code",
});

export const describeMethod = (method: string): string => METHODS[method] ?? `with ${method}`;

/** This device first, then the newest. */
export function sortDevices(devices: readonly AuthSession[]): AuthSession[] {
  return devices.toSorted(
    (a, b) => Number(b.current === true) - Number(a.current === true) || b.createdAt - a.createdAt,
  );
}

export const listOtherDevices = (devices: readonly AuthSession[]): AuthSession[] =>
  devices.filter((device) => device.current !== true);

/** A sign-in with a QR code, as its event tells of it. */
export interface QrUse {
  ip: string;
  ua: string;
  at: number;
}

/** @returns undefined for what tells of no address: nothing could be done about it. */
export function readQrUse(data: unknown): QrUse | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const { ip, ua, timestamp } = data as Record<string, unknown>;
  if (typeof ip !== "string" || typeof timestamp !== "number") return undefined;
  return { ip, ua: typeof ua === "string" ? ua : "", at: timestamp };
}

/** The event is written in the moment in which the session begins. */
const SLACK_MS = 5_000;

/** What was opened by that sign-in; the list may hold a shortened User-Agent. */
export function findDeviceOfQrUse(use: QrUse, devices: readonly AuthSession[]): AuthSession[] {
  return devices.filter(
    ({ method, ip, ua, createdAt }) =>
      method === "qr" && ip === use.ip && use.ua.startsWith(ua) && Math.abs(createdAt - use.at) < SLACK_MS,
  );
}
