/** The turns of a conversation in a list that follows its end. */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { plural } from "../../lib/format.ts";
import { Button } from "../../ui/Button.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { useSurroundings } from "./context.ts";
import { dayOf, type Filter, groupTurns, type Item, matchesFilter, type Turn } from "./items.ts";
import { NearContext, NearWindow, TurnView } from "./TurnView.tsx";

/** Pixels from the end within which the list stays at its end. */
const AT_END = 32;
/** Pixels from the beginning at which older items are asked for. */
const AT_BEGINNING = 1_200;
/** Turns at the end that are drawn at once. */
const FIRST_DRAWN = 6;
/** Earlier pages that are read to show the item of a link. */
const SOUGHT_PAGES = 40;
const NONE: ReadonlySet<string> = new Set();

interface Props {
  filter: Filter;
  /** Items that a search found, and the one to show. */
  found: readonly string[];
  target: string | undefined;
  /** Another number shows the target again. */
  jumps: number;
  /** Behind the last item. */
  children?: ComponentChildren;
}

function useTurns(items: readonly Item[], filter: Filter) {
  const before = useRef<Turn[]>([]);
  const shown = useRef(new Map<Turn, readonly Item[]>());
  return useMemo(() => {
    const turns = groupTurns(items, before.current);
    const next = new Map<Turn, readonly Item[]>();
    for (const turn of turns) {
      const kept = filter === "all" ? turn.items : turn.items.filter((each) => matchesFilter(each, filter));
      const old = shown.current.get(turn);
      const same = old?.length === kept.length && old.every((each, at) => each === kept[at]);
      if (kept.length > 0) next.set(turn, same ? old : kept);
    }
    before.current = turns;
    shown.current = next;
    return [...next];
  }, [items, filter]);
}

function useNear(scroller: { current: HTMLElement | null }) {
  const [near, setNear] = useState<NearWindow>();
  useLayoutEffect(() => {
    if (!scroller.current) return;
    const made = new NearWindow(scroller.current);
    setNear(made);
    return () => made.close();
  }, []);
  return near;
}

/** Stay at the end if the list was there; count what came otherwise. */
function useEnd(items: readonly Item[]) {
  const scroller = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const stuck = useRef(true);
  const seen = useRef(items.at(-1)?.order ?? 0);
  const edge = useRef({ first: items[0]?.id, height: 0 });
  const [fresh, setFresh] = useState(0);
  const goToEnd = () => {
    const element = scroller.current;
    if (element) element.scrollTop = element.scrollHeight;
    stuck.current = true;
    seen.current = items.at(-1)?.order ?? 0;
    setFresh(0);
  };
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const { first, height } = edge.current;
    // At the very beginning a browser keeps no place by itself.
    if (first !== items[0]?.id && !stuck.current && element.scrollTop === 0)
      element.scrollTop = element.scrollHeight - height;
    edge.current = { first: items[0]?.id, height: element.scrollHeight };
    if (stuck.current) goToEnd();
    else setFresh(items.filter(({ order }) => order > seen.current).length);
  }, [items]);
  useEffect(() => {
    if (!inner.current) return;
    const watch = new ResizeObserver(() => {
      const element = scroller.current;
      if (element && stuck.current) element.scrollTop = element.scrollHeight;
    });
    watch.observe(inner.current);
    return () => watch.disconnect();
  }, []);
  const look = () => {
    const element = scroller.current;
    if (!element) return;
    stuck.current = element.scrollHeight - element.scrollTop - element.clientHeight < AT_END;
    if (stuck.current && fresh > 0) goToEnd();
  };
  return { scroller, inner, stuck, fresh, goToEnd, look };
}

export function ConversationList({ filter, found, target, jumps, children }: Props) {
  const { conversation, agent } = useSurroundings();
  const items = conversation.items.value;
  const turns = useTurns(items, filter);
  const { scroller, inner, stuck, fresh, goToEnd, look } = useEnd(items);
  const near = useNear(scroller);
  const marked = useMemo(() => (found.length === 0 ? NONE : new Set(found)), [found]);
  const [focused, setFocused] = useState<string>();
  const holder = turns.find(([, shown]) => shown.some(({ id }) => id === target))?.[0].key;
  useLayoutEffect(() => {
    if (target === undefined) return;
    stuck.current = false;
    const element = scroller.current?.querySelector(`[data-item="${CSS.escape(target)}"]`);
    element?.scrollIntoView({ block: "center" });
  }, [target, holder, jumps]);
  const sought = useRef(0);
  useEffect(() => {
    const missing = target !== undefined && !items.some(({ id }) => id === target);
    if (!missing || !conversation.hasOlder.peek() || sought.current >= SOUGHT_PAGES) return;
    sought.current += 1;
    void conversation.loadOlder();
  }, [target, items]);
  useLayoutEffect(() => {
    if (focused === undefined) return;
    const element = scroller.current?.querySelector<HTMLElement>(`[data-turn="${CSS.escape(focused)}"]`);
    element?.focus({ preventScroll: true });
    element?.scrollIntoView({ block: "start" });
  }, [focused]);
  const scrolled = () => {
    look();
    if ((scroller.current?.scrollTop ?? 0) < AT_BEGINNING && conversation.hasOlder.peek())
      void conversation.loadOlder();
  };
  const walk = (step: 1 | -1) => {
    const now = document.activeElement?.closest<HTMLElement>("[data-turn]")?.dataset["turn"];
    const keys = turns.map(([turn]) => turn.key);
    const at = now === undefined ? (step > 0 ? -1 : keys.length) : keys.indexOf(now);
    const next = keys[at + step];
    if (next === undefined) return;
    stuck.current = false;
    setFocused(next);
  };
  const key = (event: KeyboardEvent) => {
    const { target: from } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (from instanceof HTMLElement && from.closest("input, textarea, select")) return;
    if (event.key === "j" || event.key === "k") walk(event.key === "j" ? 1 : -1);
    else if (event.key === "Enter" && from instanceof HTMLElement && from.dataset["turn"] !== undefined)
      for (const each of from.querySelectorAll("details")) each.open = !each.open;
    else if (event.key === "End") goToEnd();
    else return;
    event.preventDefault();
  };
  let day = "";
  return (
    <div class="talk-scroll">
      <div
        ref={scroller}
        class="talk-view"
        role="log"
        // Every word as it comes would be read aloud; what is new is told apart.
        aria-live="off"
        aria-label={`Conversation with ${agent}`}
        tabIndex={0}
        onScroll={scrolled}
        onKeyDown={key}
        data-testid="conversation-view"
      >
        <div ref={inner} class="talk-inner">
          {conversation.hasOlder.value && (
            <Button small onClick={() => void conversation.loadOlder()} testid="conversation-older">
              Show earlier
            </Button>
          )}
          {!conversation.hasOlder.value && conversation.cut.value && (
            <p class="talk-notice">The beginning is too long ago to be shown.</p>
          )}
          <NearContext.Provider value={near}>
            {turns.map(([turn, shown], at) => {
              const begun = dayOf(shown[0]?.at ?? null);
              const turned = begun !== "" && begun !== day;
              if (begun !== "") day = begun;
              return (
                <div key={turn.key} class="talk-place">
                  {turned && <p class="talk-day">{begun}</p>}
                  <TurnView
                    turn={turn}
                    shown={shown}
                    forced={at >= turns.length - FIRST_DRAWN || turn.key === holder || turn.key === focused}
                    marked={marked}
                  />
                </div>
              );
            })}
          </NearContext.Provider>
          {children}
        </div>
      </div>
      {fresh > 0 && (
        <button type="button" class="talk-fresh" onClick={goToEnd} data-testid="conversation-fresh">
          <Icon name="down" size={15} /> {plural(fresh, "new item")}
        </button>
      )}
    </div>
  );
}
