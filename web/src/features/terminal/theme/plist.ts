/** The colours of a property list in XML, as iTerm2 writes it, by their keys. */

const TOKENS = /<(\/?)([a-z]+)\b[^<>]*>|([^<]+)/gi;
const PARTS = ["Red Component", "Green Component", "Blue Component"] as const;

type Parts = Map<string, number>;

function hex(part: number): string {
  const byte = Math.round(Math.max(0, Math.min(1, part)) * 255);
  return byte.toString(16).padStart(2, "0");
}

function colourOf(parts: Parts): string | undefined {
  const found = PARTS.map((name) => parts.get(name));
  if (found.some((part) => part === undefined || !Number.isFinite(part))) return undefined;
  return `#${found.map((part) => hex(part ?? 0)).join("")}`;
}

/** Walks the tags once; of a colour's dictionary, only its three parts are looked at. */
export function plistColours(text: string): ReadonlyMap<string, string> {
  const colours = new Map<string, string>();
  let depth = 0;
  let key = "";
  let colour = "";
  let tag = "";
  let parts: Parts = new Map();
  for (const [, closing, name, content] of text.matchAll(TOKENS)) {
    if (content !== undefined) {
      if (tag === "key") key = content.trim();
      else if (tag === "real" || tag === "integer") parts.set(key, Number(content));
      continue;
    }
    tag = closing ? "" : (name ?? "").toLowerCase();
    if (name?.toLowerCase() !== "dict") continue;
    if (!closing) {
      depth += 1;
      if (depth === 2) [colour, parts] = [key, new Map()];
    } else {
      const found = depth === 2 ? colourOf(parts) : undefined;
      if (found !== undefined) colours.set(colour, found);
      depth -= 1;
    }
  }
  return colours;
}
