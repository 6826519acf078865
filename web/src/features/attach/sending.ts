/** Uploads what is attached, and forgets it with its session. */
import { formatError } from "../../api/errors.ts";
import { attach, FILE_MAX, type Sending } from "../files/upload.ts";
import { formatBytes } from "../../lib/format.ts";
import { onServerEvent } from "../../api/stream/events.ts";
import { showError } from "../../store/toasts.ts";
import { keepName, nameAttached } from "./names.ts";
import { clearTray, type Item, putItems, tray } from "./tray.ts";

/** Of one prompt. */
export const ITEMS_MAX = 10;

let lastKey = 0;
const running = new Map<number, Sending>();

function change(id: string, key: number, part: Partial<Item>): void {
  const items = tray.peek().get(id) ?? [];
  putItems(
    id,
    items.map((each) => (each.key === key ? { ...each, ...part } : each)),
  );
}

function forget(id: string, key: number): void {
  const items = tray.peek().get(id) ?? [];
  const thumb = items.find((each) => each.key === key)?.thumb;
  if (thumb !== undefined) URL.revokeObjectURL(thumb);
  putItems(
    id,
    items.filter((each) => each.key !== key),
  );
}

async function bring(id: string, { key, name }: Item, file: File): Promise<void> {
  const sending = attach(id, file, (part) => change(id, key, { part }));
  running.set(key, sending);
  try {
    const kept = await sending.done;
    keepName(kept.filename, name);
    change(id, key, { kept, part: 1 });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") forget(id, key);
    else change(id, key, { problem: formatError(error) });
  } finally {
    running.delete(key);
  }
}

export function addFiles(id: string, files: readonly File[]): void {
  const items = tray.peek().get(id) ?? [];
  const room = ITEMS_MAX - items.length;
  if (files.length > room)
    showError("Some files were not attached", new Error(`${ITEMS_MAX} files at most per prompt.`));
  let pictures = items.filter(({ thumb }) => thumb !== undefined).length;
  const fresh = files.slice(0, room).map((file): [Item, File] => {
    const thumb = file.type.startsWith("image/") ? { thumb: URL.createObjectURL(file) } : {};
    const problem = file.size > FILE_MAX ? { problem: `Larger than ${formatBytes(FILE_MAX)}.` } : {};
    const name = nameAttached(file, pictures);
    if (file.type.startsWith("image/")) pictures += 1;
    return [{ key: ++lastKey, name, part: 0, ...thumb, ...problem }, file];
  });
  putItems(id, [...items, ...fresh.map(([item]) => item)]);
  for (const [item, file] of fresh) if (item.problem === undefined) void bring(id, item, file);
}

export function removeFile(id: string, key: number): void {
  const sending = running.get(key);
  if (sending) sending.cancel();
  else forget(id, key);
}

onServerEvent("session:deleted", (data) => {
  const id = String((data as { id?: unknown } | null)?.id);
  for (const { key } of tray.peek().get(id) ?? []) running.get(key)?.cancel();
  clearTray(id);
});
