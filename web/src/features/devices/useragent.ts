/** What a User-Agent header says, as a person would. */

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
