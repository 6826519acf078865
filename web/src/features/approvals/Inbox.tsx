/** Everything that waits for a person, oldest first. */
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { plural } from "../../lib/format.ts";
import { Icon } from "../../ui/Icon.tsx";
import { useNow } from "../../ui/useNow.ts";
import { activeId } from "../../store/state.ts";
import { ApprovalCard } from "./ApprovalCard.tsx";
import { useCardKeys } from "./cardkeys.ts";
import { inboxAsked } from "./openinbox.ts";
import { keepsPlace } from "./actions.ts";
import { openItems, refresh } from "./state.ts";
import { useHeld, usePointerInside } from "./useHeld.ts";

function Nothing() {
  return (
    <div class="approvals-none" data-testid="approvals-none">
      <Icon name="check" size={28} />
      <p>Nothing to answer.</p>
      <small>Agents appear here when they ask for permission, ask a question or are done.</small>
    </div>
  );
}

/** Focus the card of the session in front; the oldest one where that session asks nothing. */
function focusCard(list: Element): void {
  const cards = [...list.querySelectorAll<HTMLElement>(".approval:not([data-closed=true])")];
  const card = cards.find((each) => each.dataset["session"] === activeId.peek()) ?? cards[0];
  card?.focus({ preventScroll: true });
  card?.scrollIntoView({ block: "nearest" });
}

/** Whether a card may take the focus: a digit typed elsewhere must never answer anything. */
function isFree(list: Element): boolean {
  const focused = document.activeElement;
  if (focused === null || focused === document.body) return true;
  return focused.tagName === "H2" && list.closest("dialog, aside")?.contains(focused) === true;
}

/** Bring the person to the card that was asked for, and to the next one once that is answered. */
function useFocus(ids: string) {
  const list = useRef<HTMLDivElement>(null);
  const met = useRef(0);
  const asked = inboxAsked.value;
  useLayoutEffect(() => {
    if (!list.current || (met.current === asked && !isFree(list.current))) return;
    met.current = asked;
    focusCard(list.current);
  }, [ids, asked]);
  return list;
}

export function Inbox() {
  const now = useNow();
  const items = openItems.value;
  const { inside, ...pointer } = usePointerInside();
  const shown = useHeld(items, (item) => item.id, keepsPlace, inside && items.length > 0);
  const list = useFocus(shown.map(({ item }) => item.id).join());
  useCardKeys(list);
  useEffect(() => void refresh(), []);
  return (
    <div class="approvals" ref={list} data-testid="approvals" {...pointer}>
      <p class="sr-only" role="status">
        {items.length === 0 ? "Nothing to answer." : `${plural(items.length, "session")} waiting`}
      </p>
      {shown.length === 0 ? (
        <Nothing />
      ) : (
        shown.map(({ item, gone }) => <ApprovalCard key={item.id} item={item} now={now} gone={gone} />)
      )}
    </div>
  );
}
