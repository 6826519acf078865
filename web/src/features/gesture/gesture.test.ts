import { describe, expect, test } from "vitest";
import { type GestureAction, HELD_MS, Reader, SURE_MS } from "./reader.ts";
import { type Hand, type Point, shapeOf } from "./shapes.ts";

const STEP_MS = 80;

/** A hand upright at `y`, whose fingers reach so far from the wrist and whose thumb's tip is there. */
function hand(reach: number, thumb: Point, y = 0.8): Hand {
  const points: Point[] = Array.from({ length: 21 }, () => ({ x: 0.5, y }));
  const put = (index: number, x: number, up: number) => (points[index] = { x, y: y - up });
  [5, 9, 13, 17].forEach((base, finger) => {
    const x = 0.44 + finger * 0.04;
    put(base, x, 0.2);
    put(base + 1, x, 0.28);
    put(base + 2, x, (0.28 + reach) / 2);
    put(base + 3, x, reach);
  });
  put(1, 0.46, 0.05);
  put(2, 0.42, 0.12);
  put(3, (0.42 + thumb.x) / 2, (0.12 + thumb.y) / 2);
  put(4, thumb.x, thumb.y);
  return points;
}

const palm = (y?: number): Hand => hand(0.42, { x: 0.28, y: 0.2 }, y);
const pinch = (): Hand => hand(0.42, { x: 0.44, y: 0.41 });
const thumb = (): Hand => hand(0.14, { x: 0.42, y: 0.42 });
const fist = (): Hand => hand(0.14, { x: 0.5, y: 0.2 });

test("shapes", () => {
  expect(shapeOf(palm())).toBe("palm");
  expect(shapeOf(pinch())).toBe("pinch");
  expect(shapeOf(thumb())).toBe("thumb");
  expect(shapeOf(fist())).toBe("other");
  expect(shapeOf(hand(0.42, { x: 0.44, y: 0.2 }))).toBe("other");
});

test("what is no hand is nothing", () => {
  expect(shapeOf([])).toBe("other");
  expect(shapeOf(palm().map(() => ({ x: 0.5, y: 0.5 })))).toBe("other");
  expect(shapeOf(palm().map(() => ({ x: Number.NaN, y: 0 })))).toBe("other");
});

test("a thumb down or to the side is no thumb up", () => {
  expect(shapeOf(thumb().map(({ x, y }) => ({ x, y: 1 - y })))).toBe("other");
  expect(shapeOf(thumb().map(({ x, y }) => ({ x: y, y: x })))).toBe("other");
});

class Scene {
  reader = new Reader();
  now = 0;
  deeds: GestureAction[] = [];

  /** The same for so long. */
  hold(shown: Hand | undefined, span: number): this {
    for (const end = this.now + span; this.now < end; this.now += STEP_MS)
      this.deeds.push(...this.reader.read(shown, this.now));
    return this;
  }

  get kinds(): string[] {
    return this.deeds.map(({ kind }) => kind);
  }
}

describe("over time", () => {
  test("one picture does nothing", () => {
    const scene = new Scene();
    for (const shown of [palm(), pinch(), thumb(), palm(0.6), undefined, pinch()]) scene.hold(shown, STEP_MS);
    expect(scene.kinds).toEqual([]);
  });

  test("a pinch goes on once, until it was let go", () => {
    const scene = new Scene().hold(pinch(), 3_000);
    expect(scene.kinds).toEqual(["next"]);
    scene.hold(undefined, 400).hold(pinch(), HELD_MS.pinch + 2 * STEP_MS);
    expect(scene.kinds).toEqual(["next", "next"]);
  });

  test("a palm scrolls as it moves, and not while it stands still", () => {
    const scene = new Scene().hold(palm(0.8), 1_000);
    expect(scene.kinds).toEqual([]);
    for (const y of [0.75, 0.7, 0.65]) scene.hold(palm(y), STEP_MS);
    const way = scene.deeds.reduce((sum, deed) => sum + (deed.kind === "scroll" ? deed.by : 0), 0);
    expect(way).toBeCloseTo(-0.15);
    expect(new Set(scene.kinds)).toEqual(new Set(["scroll"]));
  });

  test("a thumb held however long only asks", () => {
    expect(new Scene().hold(thumb(), SURE_MS - 1_000).kinds).toEqual(["ask"]);
    expect(new Scene().hold(thumb(), 3 * SURE_MS).kinds).toEqual(["ask", "forget"]);
  });

  test("a second thumb approves, after the first was let go", () => {
    const scene = new Scene().hold(thumb(), 1_000).hold(fist(), 500).hold(thumb(), 2_000);
    expect(scene.kinds).toEqual(["ask", "approve"]);
    scene.hold(fist(), 500).hold(thumb(), 1_000);
    expect(scene.kinds).toEqual(["ask", "approve", "ask"]);
  });

  test("a flicker is no letting go", () => {
    const scene = new Scene()
      .hold(thumb(), 1_000)
      .hold(undefined, 2 * STEP_MS)
      .hold(thumb(), 2_000);
    expect(scene.kinds).toEqual(["ask"]);
  });

  test("too late, and something else, forget it", () => {
    const late = new Scene().hold(thumb(), 1_000).hold(undefined, SURE_MS).hold(thumb(), 1_000);
    expect(late.kinds).toEqual(["ask", "forget", "ask"]);
    const other = new Scene().hold(thumb(), 1_000).hold(palm(), 500).hold(thumb(), 1_000);
    expect(other.kinds).toEqual(["ask", "forget", "ask"]);
  });
});
