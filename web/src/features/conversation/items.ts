/** Rules of a conversation's items: merging, turns, words, export. Pure. */
import type { ConversationItemResponse as Item, ToolCallResponse } from "../../api/types.ts";

export type { Item };

/** Items of one block, which is drawn only near the window. */
const BLOCK = 30;

export interface Turn {
  /** Id of its first item. */
  key: string;
  /** The prompt that began it, where this block has it. */
  prompt: Item | undefined;
  items: readonly Item[];
  /** Items of sub-agents, by the call that began them. */
  children: ReadonlyMap<string, readonly Item[]>;
}

export type Filter = "all" | "talk" | "tools" | "errors";

/**
 * @param known in their order.
 * @param found new or changed, in their order; those before all that is known are left out.
 * @param add whether those that are not known come in.
 */
export function mergeItems(known: readonly Item[], found: readonly Item[], add: boolean): Item[] {
  const changed = new Map(found.map((each) => [each.id, each]));
  const next = known.map((each) => {
    const now = changed.get(each.id);
    if (!now) return each;
    changed.delete(each.id);
    return sameItem(each, now) ? each : now;
  });
  if (!add) return next;
  const least = known[0]?.order ?? -1;
  for (const each of changed.values()) {
    if (each.order < least) continue;
    let at = next.length;
    while (at > 0 && (next[at - 1]?.order ?? 0) > each.order) at -= 1;
    next.splice(at, 0, each);
  }
  return next;
}

const sameItem = (one: Item, other: Item): boolean => JSON.stringify(one) === JSON.stringify(other);

export const isPrompt = ({ role, kind }: Item): boolean => role === "user" && kind === "text";

const failed = ({ kind, tool }: Item): boolean =>
  kind === "error" || tool?.status === "failed" || tool?.status === "denied";

export function matchesFilter(item: Item, filter: Filter): boolean {
  if (filter === "talk") return item.kind === "text" || item.kind === "question";
  if (filter === "tools") return item.tool !== undefined;
  return filter === "all" || failed(item);
}

/** @returns the turns; those that did not change are the same objects as `before`. */
export function groupTurns(items: readonly Item[], before: readonly Turn[] = []): Turn[] {
  const known = new Map(before.map((turn) => [turn.key, turn]));
  const side = new Map<string, Item[]>();
  const turns: Item[][] = [];
  for (const item of items) {
    if (item.parentId !== undefined) {
      const below = side.get(item.parentId) ?? [];
      below.push(item);
      side.set(item.parentId, below);
      continue;
    }
    const last = turns.at(-1);
    if (last && !isPrompt(item) && last.length < BLOCK) last.push(item);
    else turns.push([item]);
  }
  return turns.map((found) => {
    const first = found[0] as Item;
    const children = new Map(
      found.flatMap(({ id }): [string, Item[]][] => {
        const below = side.get(id);
        return below ? [[id, below]] : [];
      }),
    );
    const turn = { key: first.id, prompt: isPrompt(first) ? first : undefined, items: found, children };
    const old = known.get(turn.key);
    return old && sameTurn(old, turn) ? old : turn;
  });
}

const sameItems = (one: readonly Item[], other: readonly Item[]): boolean =>
  one.length === other.length && one.every((each, at) => each === other[at]);

function sameTurn(one: Turn, other: Turn): boolean {
  if (!sameItems(one.items, other.items) || one.children.size !== other.children.size) return false;
  return [...other.children].every(([id, below]) => sameItems(one.children.get(id) ?? [], below));
}

export interface Figures {
  input: number;
  output: number;
  cost: number | undefined;
}

/** Tokens and dollars of items; undefined where the agent told none. */
export function sumFigures(items: readonly Item[]): Figures | undefined {
  const told = items.filter(({ tokens }) => tokens !== undefined);
  if (told.length === 0) return undefined;
  const sum = (count: (tokens: NonNullable<Item["tokens"]>) => number) =>
    told.reduce((total, { tokens }) => total + (tokens ? count(tokens) : 0), 0);
  const costs = told.map(({ cost }) => cost).filter((cost) => cost !== undefined);
  return {
    input: sum((each) => each.input + each.cacheRead + each.cacheWrite),
    output: sum((each) => each.output),
    cost: costs.length === told.length ? costs.reduce((total, cost) => total + cost, 0) : undefined,
  };
}

const compact = (count: number): string =>
  count.toLocaleString("en", { notation: "compact", maximumFractionDigits: 1 });

export function describeFigures({ input, output, cost }: Figures): string {
  const dollars = cost === undefined ? "" : ` · $${cost < 0.01 ? cost.toFixed(4) : cost.toFixed(2)}`;
  return `${compact(input)} in · ${compact(output)} out${dollars}`;
}

function lasted(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 1) return "";
  return seconds < 120 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}

/** What stands behind a tool's title: its lines, its exit, its time. */
export function describeResult(tool: ToolCallResponse): string {
  const parts: string[] = [];
  if (tool.status === "denied") parts.push("denied");
  else if (tool.exitCode) parts.push(`exit ${tool.exitCode}`);
  else if (tool.status === "failed") parts.push("failed");
  const time = tool.durationMs === undefined ? "" : lasted(tool.durationMs);
  if (time !== "") parts.push(time);
  return parts.join(" · ");
}

/** A tool's title; paths in the folder that the agent works in begin there. */
export const titleWithin = (title: string, folder: string | undefined): string =>
  folder === undefined ? title : title.replaceAll(`${folder}/`, "");

/** @returns undefined where nothing was changed. */
export function countLines(tool: ToolCallResponse): { added: number; removed: number } | undefined {
  if (!tool.diffs || tool.status === "failed" || tool.status === "denied") return undefined;
  return {
    added: tool.diffs.reduce((sum, { added }) => sum + added, 0),
    removed: tool.diffs.reduce((sum, { removed }) => sum + removed, 0),
  };
}

/** The words of an item that a search looks into. */
export function textOf({ text, tool }: Item): string {
  return `${text ?? ""}\n${tool ? `${tool.title}\n${tool.output ?? ""}` : ""}`;
}

export function findItems(items: readonly Item[], words: string): string[] {
  const wanted = words.trim().toLowerCase();
  if (wanted === "") return [];
  return items.filter((each) => textOf(each).toLowerCase().includes(wanted)).map(({ id }) => id);
}

/** A fence that the text does not contain. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text.replace(/\n$/, "")}\n${fence}`;
}

function itemMarkdown(item: Item): string {
  const { kind, role, text = "", tool } = item;
  if (tool) {
    const told = describeResult(tool);
    const head = `**${tool.title}**${told === "" ? "" : ` · ${told}`}`;
    return tool.output ? `${head}\n\n${fenced(tool.output)}` : head;
  }
  if (kind === "compaction") return "---\n\n*Conversation compacted*";
  if (kind === "thinking") return "";
  if (role === "user" && kind === "text")
    return text
      .split("\n")
      .map((line) => `> ${line}`)
      .join("\n");
  return kind === "text" ? text : `*${text}*`;
}

/** Prompts as quotations, answers as they are, tools with their output. */
export const toMarkdown = (items: readonly Item[]): string =>
  `${items
    .map(itemMarkdown)
    .filter((part) => part !== "")
    .join("\n\n")}\n`;

export const dayOf = (at: number | null): string => (at === null ? "" : new Date(at).toDateString());

/** The newest list of the record, for sessions that tell none themselves. */
export const lastTodos = (items: readonly Item[]) =>
  items.findLast(({ kind, tool }) => kind === "todo" && tool?.status === "done")?.todos;

/** @returns paths of the files that tools changed, each once. */
export const listChangedPaths = (items: readonly Item[]): string[] => [
  ...new Set(
    items.flatMap(({ tool }) =>
      tool?.diffs && tool.status === "done" ? tool.diffs.map(({ path }) => path) : [],
    ),
  ),
];
