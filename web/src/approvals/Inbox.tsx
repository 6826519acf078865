/** Everything that waits for a person, oldest first. */
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { plural } from "../lib/format.ts";
import { Icon } from "../ui/Icon.tsx";
import { useNow } from "../ui/useNow.ts";
import { Card } from "./Card.tsx";
import { approvals, refresh } from "./state.ts";

function Nothing() {
  return (
    <div class="approvals-none" data-testid="approvals-none">
      <Icon name="check" size={28} />
      <p>Nothing waits for you.</p>
      <small>Agents that ask for permission, ask a question or are done show up here.</small>
    </div>
  );
}

/** Where the person was is gone with its answered card: the next one takes its place. */
function useFocus(ids: string) {
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const focused = document.activeElement;
    if (focused instanceof HTMLElement && focused.closest(".approval")) return;
    list.current?.querySelector<HTMLElement>(".approval")?.focus({ preventScroll: true });
  }, [ids]);
  return list;
}

export function Inbox() {
  const now = useNow();
  const items = approvals.value;
  const list = useFocus(items.map((item) => item.id).join());
  useEffect(() => void refresh(), []);
  return (
    <div class="approvals" ref={list} data-testid="approvals">
      <p class="sr-only" role="status">
        {items.length === 0 ? "Nothing waits for you." : `${plural(items.length, "session")} waiting`}
      </p>
      {items.length === 0 ? <Nothing /> : items.map((item) => <Card key={item.id} item={item} now={now} />)}
    </div>
  );
}
