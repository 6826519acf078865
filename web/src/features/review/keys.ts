/** The keys of the review page: n p e c v. */
import { choose, chosen, findNext, isPast, type ListedFile, markViewed, selection } from "./state.ts";

const EDITABLE = "input, textarea, select, [contenteditable]";

/** @returns the hunk that the reading eye is at, by the top of the scrolled box. */
function findHunk(box: Element, step: 0 | 1 | -1): HTMLElement | undefined {
  const top = box.getBoundingClientRect().top;
  const hunks = [...box.querySelectorAll<HTMLElement>(".review-hunk")];
  const offsets = hunks.map((hunk) => hunk.getBoundingClientRect().top - top);
  const active = hunks.findIndex((hunk) => hunk === document.activeElement);
  if (active >= 0) return hunks[active + step];
  if (step === -1) return hunks.findLast((_, at) => (offsets[at] ?? 0) < -4);
  return hunks.find((_, at) => (offsets[at] ?? 0) >= -4);
}

function goToChange(box: Element, step: 1 | -1): boolean {
  const hunk = findHunk(box, step);
  hunk?.scrollIntoView({ block: "start" });
  hunk?.focus({ preventScroll: true });
  return hunk !== undefined;
}

function commentHere(box: Element): void {
  const hunk = findHunk(box, 0);
  const cell =
    hunk?.querySelector<HTMLElement>(".review-line[data-kind=added]") ??
    hunk?.querySelector<HTMLElement>(".review-line[data-kind=removed]");
  const line = Number(cell?.dataset["line"]);
  if (!cell || !line) return;
  selection.value = { side: cell.dataset["side"] === "old" ? "old" : "new", line, endLine: line };
}

/** @returns whether the key was one of the page's. */
export function handleKey(event: KeyboardEvent, session: string, files: readonly ListedFile[]): boolean {
  const target = event.target;
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return false;
  if (target instanceof Element && target.matches(EDITABLE)) return false;
  const box = document.querySelector(".review-body");
  const listed = files.find(({ repo, path }) => chosen.peek()?.repo === repo && chosen.peek()?.path === path);
  const open = (file: ListedFile | undefined) => {
    if (file) choose(file);
  };
  switch (event.key) {
    case "n":
      if (!box || !goToChange(box, 1)) open(findNext(files, chosen.peek(), 1));
      return true;
    case "p":
      if (!box || !goToChange(box, -1)) open(findNext(files, chosen.peek(), -1));
      return true;
    case "e":
      open(findNext(files, chosen.peek(), 1, true));
      return true;
    case "c":
      if (box) commentHere(box);
      return true;
    case "v":
      if (listed && !isPast()) void markViewed(session, listed);
      return true;
    default:
      return false;
  }
}
