/** The changes of the session in front, the comments on them, and what is shown. */
import { batch, signal } from "@preact/signals";
import { api } from "../../api/client.ts";
import { ApiError, getErrorText } from "../../api/errors.ts";
import type { ChangedFileItem, ChangesResponse, CommentResponse, FileDiffResponse } from "../../api/types.ts";
import { readStored, writeStored } from "../../lib/stored.ts";
import { showError, showToast } from "../../store/toasts.ts";

/** A file of one repository. */
export interface FileKey {
  repo: string;
  path: string;
}

export interface ListedFile extends FileKey {
  file: ChangedFileItem;
}

export type Side = "old" | "new";

/** Lines that somebody wants to comment on. */
export interface Selection {
  side: Side;
  line: number;
  endLine: number;
}

export interface DiffView {
  split: boolean;
  wrap: boolean;
  /** Changes of white space alone are left out. */
  whitespace: boolean;
  /** Spaces and tabs have signs. */
  spaces: boolean;
  all: boolean;
}

const KEY = "tservice.review";

/** What is stored may be of an older page or edited. */
export function parseView(text: string | null, phone: boolean): DiffView {
  let stored: Partial<Record<keyof DiffView, unknown>> = {};
  try {
    stored = Object(JSON.parse(text ?? "{}")) as typeof stored;
  } catch {
    stored = {};
  }
  return {
    split: stored.split === true,
    wrap: stored.wrap === true || phone,
    spaces: stored.spaces === true,
    whitespace: false,
    all: false,
  };
}

export const changes = signal<ChangesResponse | undefined>(undefined);
export const comments = signal<readonly CommentResponse[]>([]);
export const problem = signal("");
export const chosen = signal<FileKey | undefined>(undefined);
export const selection = signal<Selection | undefined>(undefined);
/** A pointer is down on the line numbers: nothing moves below it until it is up. */
export const dragging = signal(false);
export const sending = signal(false);
/** What is compared, as the service names it. */
export interface Sides {
  /** Absent for the base that is remembered; else a session or the end of a turn. */
  base?: string;
  /** Absent for the files as they are now. */
  target?: string;
}

export const sides = signal<Sides>({});
/** Whether the files that are shown may be others than those of now. */
export const isPast = (): boolean => sides.value.target !== undefined;
export const view = signal<DiffView>(parseView(readStored(KEY), matchMedia("(max-width: 700px)").matches));

export function changeView(part: Partial<DiffView>): void {
  view.value = { ...view.peek(), ...part };
  const { split, wrap, spaces } = view.peek();
  writeStored(KEY, JSON.stringify({ split, wrap, spaces }));
}

/** @returns all files in the order of the list. */
export const listFiles = (found: ChangesResponse | undefined): ListedFile[] =>
  found?.repositories.flatMap(({ repo, files }) => files.map((file) => ({ repo, path: file.path, file }))) ??
  [];

export const isSame = (one: FileKey | undefined, other: FileKey): boolean =>
  one?.repo === other.repo && one.path === other.path;

/** @returns the next file in `step`'s direction; with `unseen` the next one that nobody has seen. */
export function findNext(
  files: readonly ListedFile[],
  from: FileKey | undefined,
  step: 1 | -1,
  unseen = false,
): ListedFile | undefined {
  const at = from ? files.findIndex((file) => isSame(from, file)) : -1;
  const ahead = step === 1 ? files.slice(at + 1) : files.slice(0, Math.max(0, at)).toReversed();
  const rest = unseen ? [...ahead, ...files.slice(0, at + 1)] : ahead;
  return rest.find(({ file }) => !unseen || !file.viewed);
}

let reads = 0;
/** The sides that were asked for last; their changes may not be known yet. */
let requested: Sides = {};

export const readChanges = (id: string): Promise<void> => readAgainst(id, requested);

/** @param part undefined removes a side. */
export function changeSides(id: string, part: { [side in keyof Sides]?: string | undefined }): Promise<void> {
  const all = Object.entries({ ...requested, ...part });
  return readAgainst(id, Object.fromEntries(all.filter(([, name]) => name !== undefined)));
}

/** @param wanted is in `sides` once the changes are known. */
export async function readAgainst(id: string, wanted: Sides): Promise<void> {
  const mine = ++reads;
  requested = wanted;
  try {
    const [found, said] = await Promise.all([
      api.get("/api/sessions/{id}/changes", { path: { id }, query: { ...wanted } }),
      api.get("/api/sessions/{id}/comments", { path: { id } }),
    ]);
    if (mine !== reads) return;
    // A file of the list before may not differ from the new base.
    batch(() => {
      sides.value = wanted;
      changes.value = found;
      comments.value = said.comments;
      problem.value = "";
    });
  } catch (error) {
    if (mine !== reads) return;
    requested = sides.peek();
    if (!(error instanceof ApiError && error.status === 401)) problem.value = getErrorText(error);
  }
}

/** What was read is of another session. */
export function forgetChanges(): void {
  reads++;
  requested = {};
  changes.value = undefined;
  comments.value = [];
  problem.value = "";
  chosen.value = undefined;
  selection.value = undefined;
  sides.value = {};
}

export function choose(key: FileKey | undefined): void {
  chosen.value = key && { repo: key.repo, path: key.path };
  selection.value = undefined;
}

export async function markViewed(id: string, { repo, path, file }: ListedFile): Promise<void> {
  const hash = file.viewed ? null : file.hash;
  try {
    await api.put("/api/sessions/{id}/changes/viewed", { path: { id }, body: { repo, path, hash } });
    setViewed({ repo, path }, hash !== null);
  } catch (error) {
    showError("Couldn't mark the file", error);
  }
}

function setViewed(key: FileKey, viewed: boolean): void {
  const found = changes.peek();
  if (!found) return;
  changes.value = {
    ...found,
    repositories: found.repositories.map((each) => ({
      ...each,
      files: each.files.map((file) =>
        each.repo === key.repo && file.path === key.path ? { ...file, viewed } : file,
      ),
    })),
  };
}

export async function addComment(
  id: string,
  key: FileKey,
  at: Selection,
  text: string,
  suggestion: string | undefined,
): Promise<boolean> {
  try {
    const body = { ...key, ...at, text, ...(suggestion !== undefined && { suggestion }) };
    const { comment } = await api.post("/api/sessions/{id}/comments", { path: { id }, body });
    comments.value = [...comments.peek(), comment];
    selection.value = undefined;
    return true;
  } catch (error) {
    showError("Couldn't save the comment", error);
    return false;
  }
}

async function changeComment(work: () => Promise<unknown>, title: string, id: string): Promise<void> {
  try {
    await work();
    await readChanges(id);
  } catch (error) {
    showError(title, error);
  }
}

export const setCommentState = (id: string, comment: CommentResponse, state: "open" | "resolved") =>
  changeComment(
    () =>
      api.patch("/api/sessions/{id}/comments/{comment}", {
        path: { id, comment: comment.id },
        body: { state },
      }),
    "Couldn't change the comment",
    id,
  );

export const deleteComment = (id: string, comment: CommentResponse) =>
  changeComment(
    () => api.delete("/api/sessions/{id}/comments/{comment}", { path: { id, comment: comment.id } }),
    "Couldn't delete the comment",
    id,
  );

/** @returns whether the agent is busy, so that the person has to be asked. */
export async function sendReview(
  id: string,
  note: string,
  evenWhileBusy: boolean,
): Promise<"sent" | "busy" | "failed"> {
  sending.value = true;
  try {
    const body = { note, evenWhileBusy };
    const sent = await api.post("/api/sessions/{id}/review/send", { path: { id }, body });
    const count = sent.commentIds.length;
    showToast("good", count === 1 ? "Sent 1 comment" : `Sent ${count} comments`);
    await readChanges(id);
    return "sent";
  } catch (error) {
    if (error instanceof ApiError && error.code === "SESSION_BUSY" && !evenWhileBusy) return "busy";
    showError("Couldn't send the review", error);
    return "failed";
  } finally {
    sending.value = false;
  }
}

export interface RevertTarget extends FileKey {
  hash: string;
  /** Absent for the whole file. */
  hunkIds?: string[];
  context: number;
}

export async function revert(
  id: string,
  target: RevertTarget,
  evenWhileBusy: boolean,
): Promise<"done" | "busy" | "failed"> {
  try {
    const done = await api.post("/api/sessions/{id}/changes/revert", {
      path: { id },
      body: { ...target, evenWhileBusy },
    });
    showToast("good", "Put back", target.path, { label: "Undo", act: () => void undo(id, done.undoIds) });
    await readChanges(id);
    return "done";
  } catch (error) {
    if (error instanceof ApiError && error.code === "SESSION_BUSY" && !evenWhileBusy) return "busy";
    showError("Couldn't put it back", error);
    await readChanges(id);
    return "failed";
  }
}

async function undo(id: string, ids: readonly string[]): Promise<void> {
  try {
    for (const undoId of ids.toReversed()) {
      await api.post("/api/sessions/{id}/changes/revert/undo", { path: { id }, body: { undoId } });
    }
  } catch (error) {
    showError("Couldn't undo it", error);
  }
  await readChanges(id);
}

/** The whole file as context (protocol-changes). */
export const WHOLE_CONTEXT = 1_000_000;
export const CONTEXT = 3;

export async function readFile(
  id: string,
  key: FileKey,
  how: DiffView,
  start: number,
  signal?: AbortSignal,
): Promise<FileDiffResponse> {
  const query = {
    ...key,
    ...sides.peek(),
    context: how.all ? ("all" as const) : CONTEXT,
    whitespace: how.whitespace ? ("ignore" as const) : ("show" as const),
    start,
  };
  return api.get("/api/sessions/{id}/changes/file", { path: { id }, query, signal });
}
