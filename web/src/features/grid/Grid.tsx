/** Several live terminals side by side; one of them has the keyboard. */
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { activeId } from "../../store/state.ts";
import type { TerminalPool } from "../terminal/pool.ts";
import { takeFocus } from "../terminal/pane.ts";
import { Cell, EmptyCell } from "./Cell.tsx";
import "./grid.css";
import { computeCellBoxes, frontOf } from "./layout.ts";
import { layout, tall } from "./state.ts";

const shapeOf = (all: ReturnType<typeof computeCellBoxes>) => ({
  "--columns": Math.max(...all.map(({ x, w }) => x + w)),
  "--rows": Math.max(...all.map(({ y, h }) => y + h)),
});

export function Grid({ pool }: { pool: TerminalPool }) {
  const now = layout.value;
  const front = activeId.value;
  const holders = useRef(new Map<number, HTMLElement>());
  const begun = useRef(false);
  const placed = useSignal(0);
  const all = now.zoomed ? computeCellBoxes(1, false) : computeCellBoxes(now.count, tall.value);
  const shown = now.zoomed ? [frontOf(now)] : [...now.cells.keys()];
  const ids = shown.map((n) => now.cells[n]);
  useLayoutEffect(() => {
    const places = new Map<string, HTMLElement>();
    for (const n of shown) {
      const [id, holder] = [now.cells[n], holders.current.get(n)];
      if (id !== undefined && holder) places.set(id, holder);
    }
    pool.place(places, front);
    placed.value += 1;
    if (begun.current || document.activeElement === document.body) takeFocus();
    begun.current = true;
  }, [pool, ids.join(), front]);
  const hold = (n: number) => (holder: HTMLElement | null) => {
    if (holder) holders.current.set(n, holder);
    else holders.current.delete(n);
  };
  return (
    <div
      class="cells"
      style={shapeOf(all)}
      data-count={shown.length}
      data-turn={placed.value}
      data-testid="cells"
    >
      {shown.map((n, place) => {
        const id = now.cells[n];
        const box = all[place];
        if (!box) return null;
        const cell = { n, box, count: now.count, zoomed: now.zoomed };
        if (id === undefined) return <EmptyCell key={n} {...cell} />;
        return <Cell key={n} {...cell} id={id} pool={pool} hold={hold(n)} />;
      })}
    </div>
  );
}
