/** One session along the top. */
import type { Session } from "../../api/types.ts";
import { dragSession } from "../grid/state.ts";
import { GitMark } from "../git/Badge.tsx";
import { LocationMarkSlot } from "../hosts/slots.tsx";
import { activeId, cliOf } from "../../store/state.ts";
import { Icon } from "../../ui/Icon.tsx";
import { close } from "./actions.ts";
import { select } from "../../ui/pages/select.ts";
import { openSessionMenu } from "./menu.ts";
import { NameField } from "./NameField.tsx";
import { naming } from "./naming.ts";
import { NoticeMarks } from "../notifications/NoticeMarks.tsx";
import { StatusDot } from "./StatusDot.tsx";
import { focusActiveTerminal } from "../terminal/current.ts";
import { sessionNumbers } from "../sidebar/state.ts";
import { SessionNumber } from "../../ui/SessionNumber.tsx";

interface Props {
  session: Session;
  /** The keyboard's way into the row of tabs. */
  reachable: boolean;
  onMove: (step: number) => void;
  onWalk: (step: number) => void;
  onDrag: (id: string | undefined) => void;
  onDropAt: (before: boolean) => void;
}

/** Whoever closes by mouse goes on typing where he typed. */
function keepFocus(event: MouseEvent): void {
  event.preventDefault();
}

function walkOf(event: KeyboardEvent): number | undefined {
  return { ArrowLeft: -1, ArrowRight: 1 }[event.key];
}

export function Tab({ session, reachable, onMove, onWalk, onDrag, onDropAt }: Props) {
  const editing = naming.value === session.id;
  const active = activeId.value === session.id;
  const key = (event: KeyboardEvent) => {
    const step = walkOf(event);
    if (step !== undefined && event.ctrlKey && event.shiftKey) onMove(step);
    else if (step !== undefined) onWalk(step);
    else if (event.key === "F2") naming.value = session.id;
    else if (event.key === "Delete") void close(session.id);
    else if (event.key === "Enter" || event.key === " ") focusActiveTerminal();
    else return;
    event.preventDefault();
  };
  /** A click wants the terminal; walking by keyboard stays among the tabs. */
  const choose = (event: MouseEvent) => {
    if (event.detail > 0) (event.currentTarget as HTMLElement).blur();
    select(session.id);
    if (event.detail > 0 && active) focusActiveTerminal();
  };
  const menu = (event: MouseEvent) => {
    event.preventDefault();
    const box = (event.currentTarget as Element).getBoundingClientRect();
    openSessionMenu(session, event.clientX || box.left, event.clientY || box.bottom);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    const box = (event.currentTarget as Element).getBoundingClientRect();
    onDropAt(event.clientX < box.left + box.width / 2);
  };
  return (
    <div
      class="tab"
      data-active={active}
      data-color={session.color}
      data-testid="tab"
      data-session={session.id}
      role="presentation"
      draggable={!editing}
      onDragStart={(event) => {
        dragSession(event, session.id);
        onDrag(session.id);
      }}
      onDragEnd={() => onDrag(undefined)}
      onDragOver={(event) => event.preventDefault()}
      onDrop={drop}
      onContextMenu={menu}
      onAuxClick={(event) => event.button === 1 && void close(session.id)}
    >
      {editing ? (
        <span class="tab-main">
          <StatusDot session={session} />
          <NameField session={session} />
        </span>
      ) : (
        <button
          type="button"
          role="tab"
          id={`tab-${session.id}`}
          class="tab-main"
          aria-selected={active}
          aria-controls="terminal-panel"
          aria-keyshortcuts="F2 Delete"
          data-names={session.id}
          tabIndex={reachable ? 0 : -1}
          title={session.workingDir}
          onClick={choose}
          onDblClick={() => (naming.value = session.id)}
          onKeyDown={key}
        >
          <StatusDot session={session} />
          {session.pinned && <Icon name="pin" size={13} />}
          <NoticeMarks session={session} />
          <span class="tab-name">{session.name}</span>
          <LocationMarkSlot session={session} />
          <GitMark session={session} />
          <span class="badge">
            {cliOf(session.mode)?.shortBadge ?? session.mode.slice(0, 2).toUpperCase()}
          </span>
          <SessionNumber number={sessionNumbers.value.get(session.id)} />
        </button>
      )}
      <button
        type="button"
        class="tab-close"
        tabIndex={-1}
        // A list of tabs holds tabs alone; by keyboard it is Delete, and the menu has it too.
        aria-hidden="true"
        title="Close"
        data-testid="tab-close"
        onMouseDown={keepFocus}
        onClick={() => void close(session.id)}
      >
        <Icon name="close" size={14} />
      </button>
    </div>
  );
}
