/** Every session at a glance: what it does, for how long, and who waits for you; where room is short, marks alone. */
import { useEffect, useRef } from "preact/hooks";
import { getCurrentStatus } from "../agents/currentstatus.ts";
import type { Session } from "../../api/types.ts";
import { hasReceivedInit } from "../../api/stream/connection.ts";
import { Skeleton } from "../../ui/Skeleton.tsx";
import { dragSession } from "../grid/state.ts";
import { GitMark } from "../git/Badge.tsx";
import { PullMark } from "../review/forge/PullMark.tsx";
import { LocationMarkSlot } from "../hosts/slots.tsx";
import { isUnreachable } from "../hosts/state.ts";
import { close, move } from "../sessions/actions.ts";
import { select } from "../../ui/pages/select.ts";
import { openSessionMenu } from "../sessions/menu.ts";
import { NameField } from "../sessions/NameField.tsx";
import { naming, writeName } from "../sessions/naming.ts";
import { getWorkStart } from "../sessions/status.ts";
import { StatusDot } from "../sessions/StatusDot.tsx";
import { activeId, cliOf, sessions } from "../../store/state.ts";
import { focusActiveTerminal } from "../terminal/current.ts";
import { change, prefs, DEFAULTS, SIDEBAR_LEAST, SIDEBAR_MOST } from "../../store/prefs.ts";
import { NoticeMarks } from "../notifications/NoticeMarks.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { ResizeHandle } from "../../ui/ResizeHandle.tsx";
import { SessionNumber } from "../../ui/SessionNumber.tsx";
import { useNow } from "../../ui/useNow.ts";
import { formatSpan, type Group, initialsOf } from "./groups.ts";
import "./sidebar.css";
import {
  filter,
  isFolded,
  pointed,
  railShown,
  seenSessions,
  sessionNumbers,
  sideGroups,
  toggleFolded,
} from "./state.ts";

/** With fewer, looking is quicker than typing. */
const FILTER_FROM = 8;

function secondLine(session: Session, now: number): string {
  const { state, word, reason } = getCurrentStatus(session);
  const said = [isUnreachable(session.id) ? `last known: ${word}` : (reason ?? word)];
  const since = getWorkStart(session);
  if (state === "busy" && since) said.push(formatSpan(since, now));
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
      <NoticeMarks session={session} />
      <span title={session.name}>{session.name}</span>
    </span>
  );
}

function rowKey(event: KeyboardEvent, session: Session): void {
  if (event.key === "F2") void writeName(session);
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
  /** The keyboard's way into the list. */
  reachable: boolean;
  onDrag: (id: string | undefined) => void;
  onDrop: (onto: string) => void;
}

interface InsideProps {
  session: Session;
  now: number;
  editing: boolean;
  number: number | undefined;
}

function Inside({ session, now, editing, number }: InsideProps) {
  if (railShown.value)
    return (
      <>
        <StatusDot session={session} />
        <span class="side-initials" aria-hidden="true">
          {initialsOf(session.name)}
        </span>
        <SessionNumber number={number} />
      </>
    );
  return (
    <>
      <StatusDot session={session} />
      <span class="side-text">
        {editing ? <NameField session={session} /> : <Name session={session} />}
        <small>{secondLine(session, now)}</small>
      </span>
      <LocationMarkSlot session={session} />
      <GitMark session={session} />
      <PullMark session={session} />
      <span class="badge">{cliOf(session.mode)?.shortBadge ?? session.mode.slice(0, 2).toUpperCase()}</span>
      <SessionNumber number={number} />
    </>
  );
}

/** A rail shows none of it, so that it is told. */
function describeRailRow(session: Session, now: number) {
  const told = `${session.name}: ${secondLine(session, now)}`;
  return { "aria-label": told, "data-tip": told, "data-tip-at": "end" };
}

function Row({ session, depth, now, reachable, onDrag, onDrop }: RowProps) {
  const active = activeId.value === session.id;
  const rail = railShown.value;
  const editing = naming.value === session.id && !rail;
  const ref = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (active) ref.current?.scrollIntoView({ block: "nearest" });
  }, [active]);
  const number = sessionNumbers.value.get(session.id);
  const inside = <Inside session={session} now={now} editing={editing} number={number} />;
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
          aria-keyshortcuts={`${number === undefined ? "" : `Alt+${number} `}F2 Delete`}
          tabIndex={reachable ? 0 : -1}
          data-testid="side-session"
          data-session={session.id}
          data-names={rail ? undefined : session.id}
          onClick={() => select(session.id)}
          onDblClick={() => void writeName(session)}
          onContextMenu={(event) => openMenu(session, event)}
          onKeyDown={(event) => rowKey(event, session)}
          {...(rail && describeRailRow(session, now))}
        >
          {inside}
        </button>
      )}
    </li>
  );
}

/** Arrow keys go from row to row, whatever group they stand in, and from the filter to the first one. */
function walk(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const list = event.currentTarget as Element;
  const rows = [...list.querySelectorAll<HTMLElement>(".side-main")];
  const focused = document.activeElement as HTMLElement;
  const at = rows.indexOf(focused);
  if (step === undefined || (at < 0 && !focused.matches(".side-filter"))) return;
  event.preventDefault();
  rows[at < 0 ? 0 : (at + step + rows.length) % rows.length]?.focus();
}

/** Enter goes to the first session that is left. */
function filterKey(event: KeyboardEvent): void {
  if (event.key === "Escape" && filter.value !== "") filter.value = "";
  else if (event.key === "Enter" && seenSessions.value[0]) {
    select(seenSessions.value[0].id);
    focusActiveTerminal();
  } else return;
  event.preventDefault();
}

function Filter() {
  return (
    <input
      class="field side-filter"
      type="search"
      placeholder="Filter: name, folder, blocked…"
      aria-label="Filter sessions by name, folder, agent or state"
      data-testid="side-filter"
      value={filter.value}
      onInput={(event) => (filter.value = event.currentTarget.value)}
      onKeyDown={filterKey}
    />
  );
}

function GroupHead({ group: { folder, name, sessions: listed } }: { group: Group }) {
  if (railShown.value) return <h2 class="sr-only">{name}</h2>;
  return (
    <h2>
      <button
        type="button"
        aria-expanded={!isFolded(folder)}
        title={folder}
        data-testid="side-group"
        onClick={() => toggleFolded(folder)}
      >
        <span>{name}</span>
        <span class="count">{listed.length}</span>
      </button>
    </h2>
  );
}

/** Nothing changes its place under the pointer of a mouse. */
const still = (event: PointerEvent): void => {
  if (event.pointerType === "mouse") pointed.value = true;
};

const release = () => (pointed.value = false);

export function Sidebar() {
  const dragged = useRef<string | undefined>(undefined);
  const now = useNow();
  useEffect(() => release, []);
  const groups = sideGroups.value;
  const rail = railShown.value;
  const shown = seenSessions.value;
  const entrance = shown.some(({ id }) => id === activeId.value) ? activeId.value : shown[0]?.id;
  const drop = (onto: string) => {
    const to = sessions.value.findIndex((session) => session.id === onto);
    if (dragged.current !== undefined) void move(dragged.current, to);
  };
  return (
    <nav
      class="sidebar"
      data-rail={rail}
      aria-label="Sessions"
      data-testid="sidebar"
      onKeyDown={walk}
      onPointerEnter={still}
      onPointerMove={still}
      onPointerLeave={release}
    >
      <div class="side-list">
        {!rail && (sessions.value.length >= FILTER_FROM || filter.value !== "") && <Filter />}
        {groups.map((group) => (
          <section key={group.folder} class="side-group">
            <GroupHead group={group} />
            <ul hidden={isFolded(group.folder)}>
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
        {groups.length === 0 &&
          (hasReceivedInit.value ? (
            <p class="dim side-none">No sessions match.</p>
          ) : (
            <Skeleton label="sessions" rows={6} />
          ))}
      </div>
      {!rail && (
        <ResizeHandle
          label="Sidebar width"
          width={prefs.value.sidebarWidth}
          least={SIDEBAR_LEAST}
          most={SIDEBAR_MOST}
          usual={DEFAULTS.sidebarWidth}
          atEnd
          onWidth={(sidebarWidth) => change({ sidebarWidth })}
          testid="sidebar-edge"
        />
      )}
    </nav>
  );
}
