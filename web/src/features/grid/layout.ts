/** Which sessions stand side by side, and where. */

export const COUNTS = [1, 2, 3, 4, 6, 9] as const;

export type Count = (typeof COUNTS)[number];

export interface Layout {
  count: Count;
  /** One for each cell; undefined where it is empty. */
  cells: readonly (string | undefined)[];
  /** The session that has, or had last, the keyboard. */
  front: string | undefined;
  /** Only the cell in front is shown, as large as all. */
  zoomed: boolean;
}

export const ALONE: Layout = { count: 1, cells: [undefined], front: undefined, zoomed: false };

/** A cell's place in units of the grid. */
export interface CellBox {
  x: number;
  y: number;
  w: number;
  h: number;
}

export type Direction = "left" | "right" | "up" | "down";

const SHAPES: Record<Count, { columns: number; rows: number }> = {
  1: { columns: 1, rows: 1 },
  2: { columns: 2, rows: 1 },
  3: { columns: 2, rows: 2 },
  4: { columns: 2, rows: 2 },
  6: { columns: 3, rows: 2 },
  9: { columns: 3, rows: 3 },
};

/** Of three the first takes half of the room, so that no cell has only a third of the width. */
const firstOf = (count: Count): number => (count === 3 ? 2 : 1);

/** @param tall the room is higher than wide: columns become rows. */
export function computeCellBoxes(count: Count, tall: boolean): CellBox[] {
  const { columns } = SHAPES[count];
  const taken = firstOf(count);
  const flat = Array.from({ length: count }, (_, n): CellBox => {
    if (n === 0) return { x: 0, y: 0, w: 1, h: taken };
    if (taken > 1) return { x: 1, y: n - 1, w: 1, h: 1 };
    return { x: n % columns, y: Math.floor(n / columns), w: 1, h: 1 };
  });
  if (!tall || count === 4 || count === 9) return flat;
  return flat.map(({ x, y, w, h }) => ({ x: y, y: x, w: h, h: w }));
}

const overlaps = (a: number, length: number, b: number, other: number): boolean =>
  a < b + other && b < a + length;

const besides = (way: Direction, from: CellBox, to: CellBox): number | undefined => {
  const rows = overlaps(from.y, from.h, to.y, to.h);
  const columns = overlaps(from.x, from.w, to.x, to.w);
  const gap = {
    left: rows ? from.x - (to.x + to.w) : -1,
    right: rows ? to.x - (from.x + from.w) : -1,
    up: columns ? from.y - (to.y + to.h) : -1,
    down: columns ? to.y - (from.y + from.h) : -1,
  }[way];
  return gap < 0 ? undefined : gap;
};

/** The next cell in a direction that holds a session; undefined at the edge. */
export function findNeighbour(layout: Layout, tall: boolean, way: Direction): string | undefined {
  const all = computeCellBoxes(layout.count, tall);
  const from = all[frontOf(layout)];
  if (!from) return undefined;
  const found = all
    .map((box, n) => ({ id: layout.cells[n], gap: besides(way, from, box) }))
    .filter(({ id, gap }) => id !== undefined && gap !== undefined)
    .toSorted((a, b) => Number(a.gap) - Number(b.gap));
  return found[0]?.id;
}

/** The index of the cell in front; the first one where none is. */
export const frontOf = ({ cells, front }: Layout): number =>
  Math.max(0, front === undefined ? 0 : cells.indexOf(front));

const filled = (cells: Layout["cells"]): string[] => cells.filter((id) => id !== undefined);

const padded = (ids: readonly string[], count: Count): Layout["cells"] =>
  Array.from({ length: count }, (_, n) => ids[n]);

const least = (wanted: number): Count => COUNTS.find((count) => count >= wanted) ?? 9;

/** @param others sessions that may fill new cells, the most wanted first. */
export function resizeLayout(layout: Layout, count: Count, others: readonly string[]): Layout {
  const { front } = layout;
  const before = filled(layout.cells);
  const kept = before.slice(0, count);
  if (front !== undefined && !kept.includes(front)) kept.splice(Math.min(kept.length, count - 1), 1, front);
  const more = others.filter((id) => !kept.includes(id));
  return { ...layout, count, cells: padded([...kept, ...more], count), zoomed: false };
}

/** A session comes to the front: where it stands, else in an empty cell, else in place of the last one. */
export function chooseSession(layout: Layout, id: string): Layout {
  if (layout.cells.includes(id)) return { ...layout, front: id };
  const empty = layout.cells.indexOf(undefined);
  return putSessionInCell({ ...layout }, id, empty >= 0 ? empty : frontOf(layout));
}

/** A session in a certain cell and in front; what stood there goes where this one was. */
export function putSessionInCell(layout: Layout, id: string, at: number): Layout {
  const before = layout.cells.indexOf(id);
  const cells = layout.cells.map((each, n) => {
    if (n === at) return id;
    return n === before ? layout.cells[at] : each;
  });
  return { ...layout, cells, front: id };
}

/** A cell less; the others move together, and the front goes to the one that follows. */
export function removeCell(layout: Layout, at: number): Layout {
  const gone = layout.cells[at];
  const rest = filled(layout.cells.filter((_, n) => n !== at));
  const count = least(Math.max(1, rest.length));
  const front = layout.front === gone ? (rest[Math.min(at, rest.length - 1)] ?? gone) : layout.front;
  const cells = padded(rest.length > 0 || gone === undefined ? rest : [gone], count);
  return { count, cells, front, zoomed: false };
}

/** Cells of sessions that are gone become empty. */
export function dropDeadSessions(layout: Layout, alive: (id: string) => boolean): Layout {
  if (filled(layout.cells).every(alive)) return layout;
  return { ...layout, cells: layout.cells.map((id) => (id !== undefined && alive(id) ? id : undefined)) };
}

const isCount = (value: unknown): value is Count => COUNTS.includes(value as Count);

/** What is stored may be of an older page or edited. */
export function parseLayout(stored: string | null): Layout {
  let value: { [K in keyof Layout]?: unknown };
  try {
    value = Object(JSON.parse(stored ?? "{}")) as typeof value;
  } catch {
    return ALONE;
  }
  const { count, cells, front } = value;
  if (!isCount(count) || !Array.isArray(cells)) return ALONE;
  const ids = new Set(cells.filter((id): id is string => typeof id === "string"));
  return {
    count,
    cells: padded([...ids], count),
    front: typeof front === "string" ? front : undefined,
    zoomed: value.zoomed === true,
  };
}
