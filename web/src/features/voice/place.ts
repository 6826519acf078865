/** Where what is said stands in the prompt box. */

export interface DraftSpan {
  before: string;
  /** What was put there last. */
  said: string;
  after: string;
}

export const placeAt = (draft: string, caret: number): DraftSpan => ({
  before: draft.slice(0, caret),
  said: "",
  after: draft.slice(caret),
});

const GLUED = /^$|\s$/;

/** With blanks where words would run into each other. */
function spaced(before: string, text: string, after: string): string {
  if (text === "") return "";
  const left = GLUED.test(before) ? "" : " ";
  const right = after === "" || /^[\s.,;:!?)]/.test(after) ? "" : " ";
  return `${left}${text}${right}`;
}

/**
 * The place, in a box that its person may have changed around it meanwhile.
 * @returns undefined where what was said is not there as it was put: it is the person's now.
 */
export function findSpan(place: DraftSpan, draft: string): DraftSpan | undefined {
  const { before, said, after } = place;
  if (draft === before + said + after) return place;
  if (said === "") return undefined;
  const at = draft.indexOf(said);
  if (at < 0 || draft.indexOf(said, at + 1) >= 0) return undefined;
  return { before: draft.slice(0, at), said, after: draft.slice(at + said.length) };
}

export function insertText(place: DraftSpan, text: string): { place: DraftSpan; draft: string } {
  const said = spaced(place.before, text, place.after);
  return { place: { ...place, said }, draft: place.before + said + place.after };
}
