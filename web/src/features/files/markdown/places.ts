/** Where the links of a document lead. Pure. */

export type Target =
  | { kind: "web"; url: string }
  | { kind: "file"; path: string; line?: number }
  | { kind: "heading"; slug: string }
  /** Another scheme, or out of the workspace: shown as text. */
  | { kind: "none" };

const NONE: Target = { kind: "none" };
/** As agents write it, `a.py:12`, and as forges do, `a.py#L12`. */
const LINE = /:(\d{1,7})(?::\d+)?$|#L(\d{1,7})(?:-L?\d+)?$/;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** @returns undefined where it leads out of the workspace. */
function resolved(from: string, path: string): string | undefined {
  const parts = path.startsWith("/") ? [] : from.split("/").slice(0, -1);
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined) return undefined;
  }
  return parts.join("/");
}

/**
 * @param url as the document has it.
 * @param from the document's own path, from the workspace's root.
 */
export function targetOf(url: string, from: string): Target {
  if (url.startsWith("#")) return { kind: "heading", slug: decoded(url.slice(1)) ?? "" };
  if (/^(https?:\/\/|mailto:)/i.test(url)) return { kind: "web", url };
  if (SCHEME.test(url) || url.startsWith("//")) return NONE;
  const line = LINE.exec(url);
  const path = decoded(url.replace(/[?#].*$/s, "").replace(LINE, ""));
  const found = path ? resolved(from, path) : undefined;
  if (!found) return NONE;
  return { kind: "file", path: found, ...(line && { line: Number(line[1] ?? line[2]) }) };
}

/** The name of a heading, as forges make it. */
export const slugOf = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-");

export const isMarkdown = (path: string): boolean => /\.(md|markdown|mdown)$/i.test(path);

/** Characters above which a document is shown as its source only. */
export const PREVIEW_MAX = 400_000;
