import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { getCurrentStatus } from "../agents/currentstatus.ts";
import type { Session } from "../../api/types.ts";
import { select } from "../../ui/pages/select.ts";
import { newSessionOpen, searchOpen } from "../../ui/pages/openpanels.ts";
import { StatusDot } from "../sessions/StatusDot.tsx";
import { activeId, sessionList, sessions } from "../../store/state.ts";
import { Overlay } from "../terminal/Overlay.tsx";
import type { TerminalPool } from "../terminal/pool.ts";
import { SearchBar } from "../terminal/SearchBar.tsx";
import type { TerminalView } from "../terminal/view.ts";
import { allowDrop, contextMenu, drop } from "../terminal/pane.ts";
import { Icon } from "../../ui/Icon.tsx";
import { IconButton } from "../../ui/IconButton.tsx";
import { type MenuItem, menuUnder } from "../../ui/menu.ts";
import { type CellBox, putSessionInCell } from "./layout.ts";
import { closeCell } from "./menu.ts";
import { applyLayout, DRAGGED, dragSession, isSessionDrag, layout } from "./state.ts";

interface PlaceProps {
  /** The index of the cell. */
  n: number;
  box: CellBox;
  count: number;
  zoomed: boolean;
}

interface Props extends PlaceProps {
  id: string;
  pool: TerminalPool;
  hold: (holder: HTMLElement | null) => void;
}

interface FrameProps extends PlaceProps {
  label: string;
  front: boolean;
  session?: string;
  children: ComponentChildren;
}

const areaOf = ({ x, y, w, h }: CellBox) => `${y + 1} / ${x + 1} / span ${h} / span ${w}`;

/** A cell's edges, onto which a session can be dropped. */
function Frame({ n, box, label, front, session, children }: FrameProps) {
  const over = useSignal(false);
  const dropped = (event: DragEvent) => {
    const id = event.dataTransfer?.getData(DRAGGED);
    over.value = false;
    if (!id) return;
    event.preventDefault();
    // Not to the terminal, which would type it.
    event.stopPropagation();
    applyLayout(putSessionInCell(layout.peek(), id, n));
  };
  const drag = (event: DragEvent) => {
    if (!isSessionDrag(event)) return;
    event.preventDefault();
    over.value = true;
  };
  return (
    <section
      class="cell"
      role="group"
      aria-label={label}
      style={{ gridArea: areaOf(box) }}
      data-front={front}
      data-over={over.value}
      data-session={session}
      data-testid="cell"
      onDragOver={drag}
      onDragLeave={() => (over.value = false)}
      onDropCapture={dropped}
    >
      {children}
    </section>
  );
}

/** Sessions for a cell: those that stand in none. */
function choices(n: number): MenuItem[] {
  const { cells } = layout.peek();
  const others = sessions
    .peek()
    .filter(({ id }) => !cells.includes(id))
    .map(({ id, name }) => ({ label: name, act: () => applyLayout(putSessionInCell(layout.peek(), id, n)) }));
  const create: MenuItem = {
    label: "New session",
    icon: "plus",
    group: others.length > 0,
    act: () => (newSessionOpen.value = true),
  };
  return [...others, create];
}

const choose = (n: number) => (event: MouseEvent) =>
  menuUnder("Show in this cell", choices(n), event.currentTarget as Element);

/** The session has another size than its cell. */
function SizeNote({ view }: { view: TerminalView }) {
  const size = view.foreignSize.value;
  if (!size) return null;
  const text = `${size.cols}×${size.rows}`;
  return (
    <button
      type="button"
      class="cell-size"
      aria-label={`${text}: resize to this cell`}
      title="Resize to this cell"
      onClick={() => view.forceSize()}
      data-testid="foreign-size"
    >
      {text}
    </button>
  );
}

interface HeadProps {
  session: Session;
  view: TerminalView | undefined;
  n: number;
  zoomed: boolean;
}

function Head({ session, view, n, zoomed }: HeadProps) {
  const { word, reason, state } = getCurrentStatus(session);
  const { id, name } = session;
  return (
    <header
      class="cell-head"
      draggable
      onDragStart={(event) => dragSession(event, id)}
      onDblClick={() => applyLayout({ ...layout.peek(), front: id, zoomed: !zoomed })}
    >
      <StatusDot session={session} />
      <button
        type="button"
        class="cell-name"
        aria-haspopup="menu"
        aria-label={`${name}: show another session here`}
        data-testid="cell-name"
        onClick={choose(n)}
      >
        <span>{name}</span>
        <Icon name="down" size={12} />
      </button>
      <small class="cell-say" data-state={state}>
        {reason ?? word}
      </small>
      {view && <SizeNote view={view} />}
      <IconButton
        icon={zoomed ? "shrink" : "grow"}
        label={zoomed ? "Show all cells" : `Maximize ${name}`}
        keys="Alt+Shift+M"
        pressed={zoomed}
        onClick={() => applyLayout({ ...layout.peek(), front: id, zoomed: !zoomed })}
        testid="cell-zoom"
      />
      <IconButton
        icon="close"
        label={`Close the cell of ${name}; the session keeps running`}
        onClick={() => closeCell(n)}
        testid="cell-close"
      />
    </header>
  );
}

export function Cell({ id, pool, hold, ...place }: Props) {
  const session = sessionList.value.byId.get(id);
  if (!session) return null;
  const front = activeId.value === id;
  const view = pool.viewOf(id);
  return (
    <Frame
      {...place}
      label={`Cell ${place.n + 1} of ${place.count}: ${session.name}`}
      front={front}
      session={id}
    >
      <Head session={session} view={view} n={place.n} zoomed={place.zoomed} />
      <div class="cell-body" onPointerDownCapture={() => select(id)} onFocusIn={() => select(id)}>
        {front && searchOpen.value && <SearchBar />}
        <div
          ref={hold}
          class="holder"
          onContextMenu={(event) => contextMenu(event, pool.viewOf(id))}
          onDragOver={allowDrop}
          onDrop={(event) => drop(event, pool.viewOf(id))}
        />
        <Overlay view={view} inCell />
      </div>
    </Frame>
  );
}

export function EmptyCell(place: PlaceProps) {
  return (
    <Frame {...place} label={`Cell ${place.n + 1} of ${place.count}: empty`} front={false}>
      <div class="cell-empty">
        <p>Drop a session here</p>
        <button type="button" class="button" onClick={choose(place.n)} data-testid="cell-choose">
          Choose a session
        </button>
        <button type="button" class="button" onClick={() => closeCell(place.n)} data-testid="cell-close">
          Close the cell
        </button>
      </div>
    </Frame>
  );
}
