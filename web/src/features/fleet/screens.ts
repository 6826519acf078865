/** The last lines of the sessions that are looked at, read one after the other. */
import { signal } from "@preact/signals";
import { readScreen } from "../../api/calls.ts";
import { withoutBlankEnd } from "../history/capture.ts";

/** Lines of a card. */
export const LINES = 7;
/** From one session's read to the next one's (ms): twenty cards are read every eight seconds. */
const PACE_MS = 400;

const ESCAPES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[ -/]*[0-~])/g;

/** The last lines with something in them, without colours. */
export function lastLines(capture: string): string {
  const plain = withoutBlankEnd(capture).replace(ESCAPES, "").replace(/\r/g, "");
  return plain
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "")
    .slice(-LINES)
    .join("\n");
}

/** By session; only of those that are followed. */
export const screens = signal<ReadonlyMap<string, string>>(new Map());

/** Before every moment of the page. */
const NEVER = -1;

/** When each was read last, in milliseconds of the page. */
const followed = new Map<string, number>();
let timer: ReturnType<typeof setTimeout> | undefined;

/** Read a session's lines again and again; @returns a function that ends it. */
export function follow(id: string): () => void {
  followed.set(id, NEVER);
  schedule(0);
  return () => {
    followed.delete(id);
    screens.value = new Map([...screens.value].filter(([known]) => known !== id));
  };
}

function schedule(delay: number): void {
  timer ??= setTimeout(() => {
    timer = undefined;
    void step();
  }, delay);
}

/** The one that was read longest ago is next; none waits for its first time. */
async function step(): Promise<void> {
  const [next] = [...followed].toSorted((a, b) => a[1] - b[1]);
  if (!next) return;
  const [id] = next;
  followed.set(id, performance.now());
  if (!document.hidden) await read(id);
  schedule([...followed.values()].includes(NEVER) ? 0 : PACE_MS);
}

async function read(id: string): Promise<void> {
  try {
    const { terminalBuffer } = await readScreen(id);
    if (followed.has(id)) screens.value = new Map(screens.value).set(id, lastLines(terminalBuffer));
  } catch (error) {
    // It ended, or the connection is lost: both are told where they belong, and the lines stay.
    console.info("the lines of a session were not read", error);
  }
}
