import { useEffect, useRef, useState } from "preact/hooks";
import { activeId, sessions } from "../../store/state.ts";
import { move } from "./actions.ts";
import { select } from "../../ui/pages/select.ts";
import { neighbour } from "./order.ts";
import { Tab } from "./Tab.tsx";

const tabOf = (id: string) => document.getElementById(`tab-${id}`);

export function focusTabs(): void {
  const id = activeId.value ?? sessions.value[0]?.id;
  if (id === undefined) return;
  // They may stand at the side.
  const row = document.querySelector<HTMLElement>(`.side-main[data-session="${CSS.escape(id)}"]`);
  (tabOf(id) ?? row)?.focus();
}

/** A vertical wheel moves a row that only scrolls sideways. */
function sideways(event: WheelEvent): void {
  if (event.deltaX === 0) (event.currentTarget as Element).scrollLeft += event.deltaY;
}

export function Tabs() {
  const [dragged, setDragged] = useState<string | undefined>(undefined);
  const ref = useRef<HTMLDivElement>(null);
  const list = sessions.value;
  const active = activeId.value;
  const ids = list.map((session) => session.id).join();
  useEffect(() => {
    const show = () => {
      if (active !== undefined)
        tabOf(active)?.parentElement?.scrollIntoView({ block: "nearest", inline: "nearest" });
    };
    show();
    // A window that narrows, a font that arrives: the row's own width counts, and each tab's.
    const watcher = new ResizeObserver(show);
    if (ref.current) watcher.observe(ref.current);
    return () => watcher.disconnect();
  }, [active, ids]);
  const walk = (id: string, step: number) => {
    const next = neighbour(
      list.map((session) => session.id),
      id,
      step,
    );
    if (next === undefined) return;
    select(next);
    tabOf(next)?.focus();
  };
  const step = (id: string, at: number) => {
    void move(id, at);
    // Behind what is drawn next, and before the next key.
    queueMicrotask(() => tabOf(id)?.focus());
  };
  const drop = (at: number, before: boolean) => {
    if (dragged === undefined) return;
    const from = list.findIndex((session) => session.id === dragged);
    const slot = before ? at : at + 1;
    void move(dragged, from < slot ? slot - 1 : slot);
    setDragged(undefined);
  };
  const known = list.some((session) => session.id === active);
  return (
    <div ref={ref} class="tabs" role="tablist" aria-label="Sessions" data-testid="tabs" onWheel={sideways}>
      {list.map((session, at) => (
        <Tab
          key={session.id}
          session={session}
          reachable={known ? session.id === active : at === 0}
          onMove={(by) => step(session.id, at + by)}
          onWalk={(by) => walk(session.id, by)}
          onDrag={setDragged}
          onDropAt={(before) => drop(at, before)}
        />
      ))}
    </div>
  );
}
