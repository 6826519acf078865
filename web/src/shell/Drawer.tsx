/** All sessions as a list from the side: the phone's tabs. */
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { PlanChips } from "../features/agents/PlanChips.tsx";
import { SessionChips } from "../features/agents/SessionChips.tsx";
import { getCurrentStatus } from "../features/agents/currentstatus.ts";
import type { Session } from "../api/types.ts";
import { openPage } from "../ui/pages/registry.ts";
import "./drawer.css";
import { openPagesMenu } from "./pagesmenu.ts";
import { toggleFleet } from "../features/fleet/page.ts";
import { GitRow } from "../features/git/Badge.tsx";
import { LocationMarkSlot } from "../features/hosts/slots.tsx";
import { isUnreachable } from "../features/hosts/state.ts";
import { activeId, cliOf, sessions } from "../store/state.ts";
import { Icon } from "../ui/Icon.tsx";
import { IconButton } from "../ui/IconButton.tsx";
import { select } from "../ui/pages/select.ts";
import { openSessionMenu } from "../features/sessions/menu.ts";
import { NameField } from "../features/sessions/NameField.tsx";
import { naming } from "../features/sessions/naming.ts";
import { drawerOpen, newSessionOpen } from "../ui/pages/openpanels.ts";
import { allGroups } from "../features/sidebar/state.ts";
import { StatusDot } from "../features/sessions/StatusDot.tsx";

function Name({ session }: { session: Session }) {
  return (
    <span class="row-name">
      {session.pinned && <Icon name="pin" size={13} />}
      <span>{session.name}</span>
    </span>
  );
}

/** Deeper ones stand no further in: names would lose their room. */
const DEEPEST = 3;

/** The folder stands above. */
function describeRow(session: Session, word: string): string {
  const used = session.contextUsedPercentage;
  const said = isUnreachable(session.id) ? `last known: ${word}` : word;
  return used === undefined ? said : `${said} · ${Math.round(used)}% context`;
}

/** The model is told where it is another one than most sessions have. */
function isUnusualModel(session: Session): boolean {
  if (!session.displayModel) return false;
  const alike = sessions.value.filter(({ displayModel }) => displayModel === session.displayModel).length;
  return 2 * alike <= sessions.value.filter(({ displayModel }) => displayModel).length;
}

function Row({ session, depth }: { session: Session; depth: number }) {
  const choose = () => {
    select(session.id);
    drawerOpen.value = false;
  };
  const menu = (event: MouseEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    openSessionMenu(session, box.left, box.bottom);
  };
  const now = getCurrentStatus(session);
  const editing = naming.value === session.id;
  const inside = (
    <>
      <StatusDot session={session} />
      <span class="row-text">
        {editing ? <NameField session={session} /> : <Name session={session} />}
        <span class="row-sub">
          {now.state === "attention" && now.reason ? now.reason : describeRow(session, now.word)}
        </span>
        <GitRow session={session} />
        {isUnusualModel(session) && (
          <span class="row-chips">
            <SessionChips session={session} />
          </span>
        )}
      </span>
      <LocationMarkSlot session={session} />
      <span class="badge">{cliOf(session.mode)?.shortBadge ?? session.mode}</span>
    </>
  );
  return (
    <li
      class="row"
      data-color={session.color}
      data-active={activeId.value === session.id}
      data-depth={Math.min(depth, DEEPEST)}
      aria-level={depth + 1}
    >
      {editing ? (
        <div class="row-main">{inside}</div>
      ) : (
        <button
          type="button"
          class="row-main"
          aria-current={activeId.value === session.id ? "true" : undefined}
          onClick={choose}
          data-testid="drawer-session"
          data-session={session.id}
          data-names={session.id}
        >
          {inside}
        </button>
      )}
      <IconButton icon="more" label={`Actions for ${session.name}`} onClick={menu} />
    </li>
  );
}

export function Drawer() {
  const ref = useRef<HTMLDialogElement>(null);
  const close = () => (drawerOpen.value = false);
  useLayoutEffect(() => ref.current?.showModal(), []);
  const page = openPage.value;
  useEffect(() => {
    if (page !== undefined) close();
  }, [page]);
  const backdrop = (event: MouseEvent) => {
    if (event.target === ref.current) close();
  };
  const create = () => {
    close();
    newSessionOpen.value = true;
  };
  return (
    <dialog
      ref={ref}
      class="drawer"
      aria-label="Sessions"
      data-testid="drawer"
      onCancel={close}
      onClick={backdrop}
    >
      <div class="drawer-body">
        <header class="drawer-head">
          <h2>Sessions</h2>
          <IconButton icon="close" label="Close session list" onClick={close} />
        </header>
        <div class="drawer-plan">
          <PlanChips />
        </div>
        <div class="rows">
          {allGroups.value.map((group) => (
            <section key={group.folder}>
              <h3 class="rows-head" title={group.folder}>
                {group.name} <span class="count">{group.sessions.length}</span>
              </h3>
              <ul>
                {group.sessions.map(({ session, depth }) => (
                  <Row key={session.id} session={session} depth={depth} />
                ))}
              </ul>
            </section>
          ))}
        </div>
        <footer class="drawer-foot">
          <button type="button" class="button primary" onClick={create} data-testid="drawer-new">
            <Icon name="plus" /> New session
          </button>
          <IconButton icon="grid" label="Fleet" testid="drawer-fleet" onClick={toggleFleet} />
          <IconButton
            icon="more"
            label="Pages and settings"
            testid="drawer-pages"
            onClick={(event) => openPagesMenu(event.currentTarget as Element)}
          />
        </footer>
      </div>
    </dialog>
  );
}
