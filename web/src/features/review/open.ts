/** The way to the review of a session, and the counts that are known of each. */
import { signal } from "@preact/signals";
import { onServerEvent } from "../../api/stream/events.ts";
import type { SessionChangesPayload } from "../../api/types.ts";
import { openPage, REVIEW_PAGE } from "../../ui/pages/registry.ts";
import { select } from "../../ui/pages/select.ts";

/** A file that another feature wants to be shown when the page opens. */
export const wanted = signal<string | undefined>(undefined);

/** Paths of the only files that are listed, such as those of one turn; absent for all. */
export const only = signal<readonly string[] | undefined>(undefined);

/** When a turn began and ended, in Unix milliseconds. */
export interface TurnSpan {
  from: number;
  to: number;
}

/** What another feature wants to be compared: one turn, or all that changed. */
export const asked = signal<{ turn: TurnSpan | undefined } | undefined>(undefined);

/** Whether a path that somebody wrote, absolute or below some folder, is that of a listed file. */
export const matchesPath = (asked: string, path: string): boolean =>
  asked === path || asked.endsWith(`/${path}`) || path.endsWith(`/${asked}`);

/** Whether a file is one of those that somebody asked for. */
export const isShown = ({ path, origPath }: { path: string; origPath?: string }): boolean =>
  only.value === undefined ||
  only.value.some(
    (asked) => matchesPath(asked, path) || (origPath !== undefined && matchesPath(asked, origPath)),
  );

export const counts = signal<ReadonlyMap<string, SessionChangesPayload>>(new Map());

/**
 * @param path of a file, absolute or below the folder; absent for all of them.
 * @param paths of the files that are listed; absent for all.
 * @param turn that is compared, where its files were recorded; absent for all that changed.
 */
export function openReview(session: string, path?: string, paths?: readonly string[], turn?: TurnSpan): void {
  select(session);
  wanted.value = path;
  only.value = paths;
  asked.value = { turn };
  openPage.value = REVIEW_PAGE;
}

/** Follow what the service says for as long as the page lives. */
export function followReviewCounts(): void {
  onServerEvent("init", ({ changes }) => {
    counts.value = new Map((changes ?? []).map((each) => [each.id, each]));
  });
  onServerEvent("session:changes", (told) => {
    counts.value = new Map(counts.peek()).set(told.id, told);
  });
  onServerEvent("session:deleted", ({ id }) => {
    const left = new Map(counts.peek());
    if (left.delete(id)) counts.value = left;
  });
}
