/** What can be done with cells, as menu items. */
import { attentionRank } from "../approvals/state.ts";
import { activeId, sessions } from "../../store/state.ts";
import type { MenuItem } from "../../ui/menu.ts";
import { type Count, COUNTS, frontOf, resizeLayout, removeCell } from "./layout.ts";
import { applyLayout, gridOn, layout, roomy, toggleZoom } from "./state.ts";

export function setCount(count: Count): void {
  if (!roomy.peek()) return;
  const others = sessions
    .peek()
    .map(({ id }) => id)
    .toSorted((a, b) => attentionRank(a) - attentionRank(b));
  applyLayout(resizeLayout({ ...layout.peek(), front: activeId.peek() }, count, others));
}

/** Its session goes on. */
export function closeCell(at = frontOf(layout.peek())): void {
  if (gridOn.peek()) applyLayout(removeCell(layout.peek(), at));
}

/** Reads signals. */
export function layoutItems(): MenuItem[] {
  if (!roomy.value) return [];
  const { count, zoomed } = layout.value;
  const counts = COUNTS.map((each) => ({
    label: each === 1 ? "1 terminal" : `${each} terminals`,
    keys: `Alt+Shift+${each}`,
    checked: each === count,
    act: () => setCount(each),
  }));
  if (!gridOn.value) return counts;
  return [
    ...counts,
    { label: zoomed ? "Show all cells" : "Maximize cell", keys: "Alt+Shift+M", act: toggleZoom, group: true },
    { label: "Close cell", keys: "Alt+Shift+X", act: () => closeCell() },
  ];
}
