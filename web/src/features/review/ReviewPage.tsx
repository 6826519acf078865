/** What the session in front changed: read it, comment on it, send it back. */
import { useEffect, useRef } from "preact/hooks";
import { onServerEvent } from "../../api/stream/events.ts";
import { activeSession } from "../../store/state.ts";
import { Icon } from "../../ui/Icon.tsx";
import { FileDiff } from "./FileDiff.tsx";
import { FileTree } from "./FileTree.tsx";
import { handleKey } from "./keys.ts";
import { asked, isShown, matchesPath, only, wanted } from "./open.ts";
import {
  changes,
  choose,
  chosen,
  findNext,
  forgetChanges,
  isSame,
  listFiles,
  problem,
  readAgainst,
  readChanges,
} from "./state.ts";
import { Tray } from "./Tray.tsx";
import { findSides } from "./turns.ts";
import "./review.css";
import "./rows.css";

/** The service watches a session for a minute after it was read. */
const EVERY_MS = 45_000;
/** Pixels. */
const ROOMY = 760;

function useChanges(id: string | undefined): void {
  useEffect(() => {
    if (id === undefined) return;
    forgetChanges();
    if (!asked.peek()) void readChanges(id);
    const again = (data: unknown) => {
      if ((data as { id?: unknown } | null)?.id === id) void readChanges(id);
    };
    const unfollow = onServerEvent("session:changes", again);
    const timer = setInterval(() => document.hidden || void readChanges(id), EVERY_MS);
    return () => {
      unfollow();
      clearInterval(timer);
      forgetChanges();
      only.value = undefined;
    };
  }, [id]);
}

/** Compares what another feature asked for, also while the page is open. */
function useAsked(id: string | undefined): void {
  const now = asked.value;
  useEffect(() => {
    if (id === undefined || now === undefined) return;
    asked.value = undefined;
    const { turn } = now;
    if (turn === undefined) return void readAgainst(id, {});
    void findSides(id, turn).then((sides) => {
      if (activeSession.peek()?.id === id) void readAgainst(id, sides);
    });
  }, [id, now]);
}

/** Whether the list of files stands beside the diff; review.css has the same width. */
const isRoomy = (page: HTMLElement | null): boolean => (page?.clientWidth ?? 0) > ROOMY;

function Nothing({ text }: { text: string }) {
  return (
    <p class="review-none" data-testid="review-none">
      <Icon name="check" size={28} />
      {text}
    </p>
  );
}

export function ReviewPage() {
  const id = activeSession.value?.id;
  useChanges(id);
  useAsked(id);
  const page = useRef<HTMLDivElement>(null);
  const all = listFiles(changes.value);
  const files = all.filter(({ file }) => isShown(file));
  const listed = files.find((file) => isSame(chosen.value, file));
  useEffect(() => {
    if (files.length === 0) return;
    const name = wanted.peek();
    const named = files.find(({ path }) => name !== undefined && matchesPath(name, path));
    wanted.value = undefined;
    if (named) choose(named);
    else if (!chosen.peek() && isRoomy(page.current)) choose(findNext(files, undefined, 1, true) ?? files[0]);
  }, [files.length > 0, id, wanted.value]);
  if (id === undefined) return null;
  const step = (way: 1 | -1) => {
    const next = findNext(files, chosen.peek(), way);
    if (next) choose(next);
  };
  return (
    <div
      ref={page}
      class="review-page"
      data-view={listed ? "diff" : "files"}
      data-testid="review-page"
      onKeyDown={(event) => {
        if (handleKey(event, id, files)) event.preventDefault();
      }}
    >
      <div class="review-side">
        {problem.value !== "" && <p class="review-none">{problem.value}</p>}
        {problem.value === "" && !changes.value && <p class="review-none dim">Loading…</p>}
        {changes.value && all.length === 0 && <Nothing text="Nothing changed." />}
        {changes.value && <FileTree session={id} />}
      </div>
      <div class="review-main">
        {listed && (
          <FileDiff key={`${listed.repo} ${listed.path}`} session={id} listed={listed} onStep={step} />
        )}
      </div>
      <Tray session={id} />
    </div>
  );
}
