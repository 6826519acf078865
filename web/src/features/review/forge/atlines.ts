/** Comments of people at the forge whose lines are the same here, so that they stand below them. */
import { signal } from "@preact/signals";
import type { ForgeCommentItem, RowResponse } from "../../../api/types.ts";
import { comments, type FileKey } from "../state.ts";

const atLines = signal<ReadonlyMap<string, readonly ForgeCommentItem[]>>(new Map());

export function setCommentsAtLines(repo: string, found: readonly ForgeCommentItem[]): void {
  if (found.length === 0 && !atLines.peek().has(repo)) return;
  const now = new Map(atLines.peek());
  if (found.length > 0) now.set(repo, found);
  else now.delete(repo);
  atLines.value = now;
}

/** @returns those below a row, without those that were taken over: they stand there already. */
export function findAtRow({ repo, path }: FileKey, row: RowResponse): ForgeCommentItem[] {
  const isTaken = (each: ForgeCommentItem) =>
    comments.value.some(
      (own) =>
        own.path === path &&
        own.repo === repo &&
        own.text.startsWith(`${each.author}: `) &&
        own.text.includes(each.text),
    );
  return (atLines.value.get(repo) ?? []).filter(
    (each) => each.path === path && row.new !== undefined && each.line === row.new && !isTaken(each),
  );
}
