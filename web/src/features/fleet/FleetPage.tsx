/** Every session in a line: what runs, for how long, what it changed; those that ask as cards. */
import { useEffect, useRef, useState } from "preact/hooks";
import { AwayBlock } from "../away/AwayBlock.tsx";
import { getCurrentStatus } from "../agents/currentstatus.ts";
import { keepsPlace } from "../approvals/actions.ts";
import { useCardKeys } from "../approvals/cardkeys.ts";
import type { Held } from "../approvals/held.ts";
import type { ApprovalItemResponse } from "../approvals/item.ts";
import { finishedSessions, openItems, sessionsNeedingPerson } from "../approvals/state.ts";
import { useHeld, usePointerInside } from "../approvals/useHeld.ts";
import { isBlocking } from "../approvals/inbox.ts";
import { plural, shortenPath } from "../../lib/format.ts";
import { readStored, writeStored } from "../../lib/stored.ts";
import { newSessionOpen } from "../../ui/pages/openpanels.ts";
import { cliOf, sessions } from "../../store/state.ts";
import { showError } from "../../store/toasts.ts";
import { Icon } from "../../ui/Icon.tsx";
import { lazySlot } from "../../ui/lazySlot.tsx";
import { useNow } from "../../ui/useNow.ts";
import "./fleet.css";
import { Row } from "./Row.tsx";
import {
  ALL,
  arrange,
  type Entry,
  type Group,
  holdArrangement,
  listGroups,
  parseGrouping,
  type Place,
  type View,
} from "./rules.ts";
import { clearSelection, selecting } from "./selection.ts";
import { Toolbar } from "./Toolbar.tsx";

/** With fewer, looking is quicker than choosing. */
const TOOLS_FROM = 4;
const GROUPING_KEY = "tservice.fleet";

const SelectionBar = lazySlot(async () => (await import("./SelectionBar.tsx")).SelectionBar, {
  failed: (error) => showError("Couldn't load the selection", error),
});

/** The question of each session; one that was just answered before the next one of its session. */
function mapQuestions(held: readonly Held<ApprovalItemResponse>[]) {
  const found = new Map<string, Held<ApprovalItemResponse>>();
  for (const each of held) {
    const other = found.get(each.item.sessionId);
    if (!other || !keepsPlace(other.item.id)) found.set(each.item.sessionId, each);
  }
  return found;
}

function listEntries(): Entry[] {
  return sessions.value.map((session) => ({
    session,
    status: getCurrentStatus(session),
    agent: cliOf(session.mode)?.label ?? session.mode,
  }));
}

/** Nothing changes its place under the pointer. */
function useArrangement(entries: readonly Entry[], view: View, still: boolean): readonly Place[] {
  const shown = useRef<{ view: View; places: readonly Place[] }>({ view, places: [] });
  const now = arrange(entries, view);
  const ids = new Set(entries.map(({ session }) => session.id));
  const before = shown.current;
  const held = still && before.view === view;
  shown.current = { view, places: held ? holdArrangement(before.places, now, (id) => ids.has(id)) : now };
  return shown.current.places;
}

function Summary({ count }: { count: number }) {
  const [waiting, done] = [sessionsNeedingPerson.value.size, finishedSessions.value.size];
  return (
    <div class="fleet-sum">
      <p data-testid="fleet-sum">
        {plural(count, "session")}
        {waiting > 0 && <b> · {waiting === 1 ? "1 needs" : `${waiting} need`} you</b>}
        {done > 0 && <b class="done"> · {done} done</b>}
      </p>
      <button type="button" class="button small" onClick={() => (newSessionOpen.value = true)}>
        <Icon name="plus" size={14} /> New session
      </button>
    </div>
  );
}

/** Arrow keys go from row to row, through all groups. */
function walk(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 }[event.key];
  const rows = [...(event.currentTarget as Element).querySelectorAll<HTMLElement>(".fleet-main")];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  if (step === undefined || at < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  rows[(at + step + rows.length) % rows.length]?.focus();
}

function leaveSelection(event: KeyboardEvent): void {
  if (event.key !== "Escape" || event.defaultPrevented || !selecting.peek()) return;
  event.preventDefault();
  clearSelection();
}

export function FleetPage() {
  const now = useNow();
  const cards = useRef<HTMLDivElement>(null);
  useCardKeys(cards);
  const { inside, ...pointer } = usePointerInside();
  const [view, setView] = useState<View>(() => ({
    ...ALL,
    grouping: parseGrouping(readStored(GROUPING_KEY)),
  }));
  const entries = listEntries();
  // What is merely done asks for nothing.
  const items = openItems.value.filter(isBlocking);
  const questions = useHeld(items, ({ id }) => id, keepsPlace, inside && items.length > 0);
  const places = useArrangement(entries, view, inside || questions.some(({ gone }) => gone));
  const asked = mapQuestions(questions);
  const byId = new Map(entries.map((entry) => [entry.session.id, entry]));
  const shown = places.map(({ id }) => id);
  useEffect(() => clearSelection, []);
  const change = (part: Partial<View>) => {
    if (part.grouping) writeStored(GROUPING_KEY, part.grouping);
    setView({ ...view, ...part });
  };
  const list = (group: Group) => (
    <section key={group.id} class="fleet-group" data-group={group.id} data-testid="fleet-group">
      <h3 title={group.id}>
        {shortenPath(group.name)} <span class="count">{group.places.length}</span>
      </h3>
      <ul>
        {group.places.map(({ id }) => {
          const entry = byId.get(id);
          return (
            entry && (
              <Row
                key={id}
                entry={entry}
                now={now}
                asked={asked.get(id)}
                shown={shown}
                reachable={id === shown[0]}
              />
            )
          );
        })}
      </ul>
    </section>
  );
  return (
    <div class="fleet" data-by={view.grouping} onKeyDown={leaveSelection}>
      <Summary count={entries.length} />
      <AwayBlock />
      {entries.length >= TOOLS_FROM && <Toolbar entries={entries} view={view} onChange={change} />}
      <div ref={cards} class="fleet-groups" onKeyDown={walk} {...pointer}>
        {listGroups(places, view.grouping).map(list)}
      </div>
      {places.length === 0 && entries.length > 0 && <p class="dim">No sessions match.</p>}
      {selecting.value && <SelectionBar shown={shown} />}
    </div>
  );
}
