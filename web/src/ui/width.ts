/** How much room the window has. */
import { signal } from "@preact/signals";
import { followMedia } from "../lib/media.ts";

/** Whether there is room beside a terminal: beside anything narrower it would have too few columns. */
export const wide = signal(false);

/** Whether there is room for nothing beside a page, which then stands over everything. */
export const narrow = signal(false);

export function followWidth(): void {
  followMedia("(min-width: 1100px)", wide);
  followMedia("(max-width: 700px)", narrow);
}
