/** The dialog in front: what lies outside of a modal one can be seen, but not pressed. */
import { signal } from "@preact/signals";

let open: readonly HTMLElement[] = [];

export const topDialog = signal<HTMLElement | undefined>(undefined);

/** @returns a function that says that it has closed, in whatever order. */
export function comeToFront(dialog: HTMLElement): () => void {
  const change = (now: readonly HTMLElement[]) => {
    open = now;
    topDialog.value = open.at(-1);
  };
  change([...open, dialog]);
  return () => change(open.filter((other) => other !== dialog));
}
