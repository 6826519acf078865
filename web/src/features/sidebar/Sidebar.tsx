/** Every session at a glance: what it does, for how long, and who waits for you. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { getCurrentStatus } from "../agents/currentstatus.ts";
import type { Session } from "../../api/types.ts";
import { sessionsNeedingPerson } from "../approvals/state.ts";
import { usePointerInside } from "../approvals/useHeld.ts";
import { dragSession } from "../grid/state.ts";
import { GitMark } from "../git/Badge.tsx";
import { LocationMarkSlot } from "../hosts/slots.tsx";
import { isUnreachable } from "../hosts/state.ts";
import { close, move } from "../sessions/actions.ts";
import { select } from "../../ui/pages/select.ts";
import { openSessionMenu } from "../sessions/menu.ts";
import { NameField } from "../sessions/NameField.tsx";
import { naming } from "../sessions/naming.ts";
import { StatusDot } from "../sessions/StatusDot.tsx";
import { activeId, cliOf, sessions } from "../../store/state.ts";
import { focusActiveTerminal } from "../terminal/focus.ts";
import { Icon } from "../../ui/Icon.tsx";
import { useNow } from "../../ui/useNow.ts";
import { matchesFilter, groupSessions, formatSpan } from "./groups.ts";
import "./sidebar.css";

/** With fewer, looking is quicker than typing. */
const FILTER_FROM = 8;

const agentOf = (session: Session) => cliOf(session.mode)?.label ?? session.mode;

function secondLine(session: Session, now: number): string {
  const { state, word, reason } = getCurrentStatus(session);
  const said = [isUnreachable(session.id) ? `last known: ${word}` : (reason ?? word)];
  if (state === "busy" && session.lastSubmitAt) said.push(formatSpan(session.lastSubmitAt, now));
  if (session.totalCost && !session.costUnknown) said.push(`$${session.totalCost.toFixed(2)}`);
  if (session.contextUsedPercentage !== undefined)
    said.push(`${Math.round(session.contextUsedPercentage)}% context`);
  return said.join(" · ");
}

function openMenu(session: Session, event: MouseEvent): void {
  event.preventDefault();
  const box = (event.currentTarget as Element).getBoundingClientRect();
  openSessionMenu(session, event.clientX || box.left, event.clientY || box.bottom);
}

/** Deeper ones stand no further in: names would lose their room. */
const DEEPEST = 3;

function Name({ session }: { session: Session }) {
  return (
    <span class="side-name">
      {session.pinned && <Icon name="pin" size={12} />}
      <span>{session.name}</span>
    </span>
  );
}

function rowKey(event: KeyboardEvent, session: Session): void {
  if (event.key === "F2") naming.value = session.id;
  else if (event.key === "Delete") void close(session.id);
  else if (event.key === "Enter" || event.key === " ") {
    select(session.id);
    focusActiveTerminal();
  } else return;
  event.preventDefault();
}

interface RowProps {
  session: Session;
  depth: number;
  now: number;
  reachable: boolean;
  onDrag: (id: string | undefined) => void;
  onDrop: (onto: string) => void;
}

function Row({ session, depth, now, reachable, onDrag, onDrop }: RowProps) {
  const active = activeId.value === session.id;
  const editing = naming.value === session.id;
  const ref = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (active) ref.current?.scrollIntoView({ block: "nearest" });
  }, [active]);
  const inside = (
    <>
      <StatusDot session={session} />
      <span class="side-text">
        {editing ? <NameField session={session} /> : <Name session={session} />}
        <small>{secondLine(session, now)}</small>
      </span>
      <LocationMarkSlot session={session} />
      <GitMark session={session} />
      <span class="badge">{cliOf(session.mode)?.shortBadge ?? session.mode.slice(0, 2).toUpperCase()}</span>
    </>
  );
  return (
    <li
      class="side-row"
      data-active={active}
      data-color={session.color}
      data-depth={Math.min(depth, DEEPEST)}
      aria-level={depth + 1}
      draggable={!editing}
      onDragStart={(event) => {
        dragSession(event, session.id);
        onDrag(session.id);
      }}
      onDragEnd={() => onDrag(undefined)}
      onDragOver={(event) => event.preventDefault()}
      onDrop={() => onDrop(session.id)}
    >
      {editing ? (
        <div class="side-main">{inside}</div>
      ) : (
        <button
          ref={ref}
          type="button"
          class="side-main"
          aria-current={active ? "true" : undefined}
          aria-keyshortcuts="F2 Delete"
          tabIndex={reachable ? 0 : -1}
          data-testid="side-session"
          data-session={session.id}
          data-names={session.id}
          onClick={() => select(session.id)}
          onDblClick={() => (naming.value = session.id)}
          onContextMenu={(event) => openMenu(session, event)}
          onKeyDown={(event) => rowKey(event, session)}
        >
          {inside}
        </button>
      )}
    </li>
  );
}

/** Arrow keys go from row to row, whatever group they stand in. */
function walk(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const list = event.currentTarget as Element;
  const rows = [...list.querySelectorAll<HTMLElement>(".side-main")];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  if (step === undefined || at < 0) return;
  event.preventDefault();
  rows[(at + step + rows.length) % rows.length]?.focus();
}

function Filter({ onType }: { onType: (text: string) => void }) {
  return (
    <input
      class="field side-filter"
      type="search"
      placeholder="Filter"
      aria-label="Filter sessions"
      data-testid="side-filter"
      onInput={(event) => onType(event.currentTarget.value)}
    />
  );
}

export function Sidebar() {
  const filter = useSignal("");
  const folded = useSignal<ReadonlySet<string>>(new Set());
  const dragged = useRef<string | undefined>(undefined);
  const now = useNow();
  const { inside, ...pointer } = usePointerInside();
  // Nothing changes its place under the pointer.
  const needy = useRef(sessionsNeedingPerson.value);
  if (!inside) needy.current = sessionsNeedingPerson.value;
  const groups = groupSessions(
    sessions.value.filter((session) => matchesFilter(session, agentOf(session), filter.value)),
    (id) => needy.current.has(id),
  );
  const fold = (folder: string) => {
    const next = new Set(folded.value);
    if (!next.delete(folder)) next.add(folder);
    folded.value = next;
  };
  const drop = (onto: string) => {
    const to = sessions.value.findIndex((session) => session.id === onto);
    if (dragged.current !== undefined) void move(dragged.current, to);
  };
  const shown = groups.flatMap((group) =>
    folded.value.has(group.folder) ? [] : group.sessions.map(({ session }) => session),
  );
  const entrance = shown.some(({ id }) => id === activeId.value) ? activeId.value : shown[0]?.id;
  return (
    <nav class="sidebar" aria-label="Sessions" data-testid="sidebar" onKeyDown={walk} {...pointer}>
      {sessions.value.length >= FILTER_FROM && <Filter onType={(text) => (filter.value = text)} />}
      {groups.map((group) => (
        <section key={group.folder} class="side-group">
          <h2>
            <button
              type="button"
              aria-expanded={!folded.value.has(group.folder)}
              title={group.folder}
              data-testid="side-group"
              onClick={() => fold(group.folder)}
            >
              <span>{group.name}</span>
              <span class="count">{group.sessions.length}</span>
            </button>
          </h2>
          <ul hidden={folded.value.has(group.folder)}>
            {group.sessions.map(({ session, depth }) => (
              <Row
                key={session.id}
                session={session}
                depth={depth}
                now={now}
                reachable={session.id === entrance}
                onDrag={(id) => (dragged.current = id)}
                onDrop={drop}
              />
            ))}
          </ul>
        </section>
      ))}
      {groups.length === 0 && <p class="dim side-none">No sessions match.</p>}
    </nav>
  );
}
