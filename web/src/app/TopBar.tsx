import { PlanChips } from "../agents/PlanChips.tsx";
import { Bell } from "../approvals/Bell.tsx";
import { me } from "../auth/me.ts";
import { canSignOut, leave } from "../auth/state.ts";
import { FILES_PAGE } from "../files/page.ts";
import { GitMark } from "../git/Badge.tsx";
import { PlaceMark } from "../hosts/slots.tsx";
import { drawerOpen } from "../sessions/Drawer.tsx";
import { shortPath } from "../lib/format.ts";
import { newSessionOpen } from "../sessions/newsession.ts";
import { StatusDot } from "../sessions/StatusDot.tsx";
import { openSessionMenu } from "../sessions/menu.ts";
import { Tabs } from "../sessions/Tabs.tsx";
import { sidebarShown, toggleSidebar } from "../sidebar/state.ts";
import { activeSession, sessionList } from "../store/state.ts";
import { searchOpen } from "../terminal/current.ts";
import { Brand } from "../ui/Brand.tsx";
import { IconButton } from "../ui/IconButton.tsx";
import { type MenuItem, menuUnder } from "../ui/menu.ts";
import { besidePage, togglePanel } from "./panel.ts";
import { WebStrip } from "../webtabs/WebStrip.tsx";
import { availablePages, openPage } from "./registry.ts";

const openNew = () => (newSessionOpen.value = true);

function leaveItem(): MenuItem[] {
  if (!canSignOut.value) return [];
  const name = me.value?.username;
  return [
    { label: name ? `Sign out · ${name}` : "Sign out", icon: "leave", group: true, act: () => void leave() },
  ];
}

function pageItems(): MenuItem[] {
  const pages = availablePages().map((page) => {
    const count = page.count?.() ?? 0;
    return {
      label: count > 0 ? `${page.title} (${count})` : page.title,
      icon: page.icon,
      keys: page.keys,
      act: () => void (openPage.value = page.id),
    };
  });
  return [...pages, ...leaveItem()];
}

/** On a phone the row of tabs gives way to the name of the one session and the list behind it. */
function Current() {
  const session = activeSession.value;
  return (
    <button
      type="button"
      class="current"
      data-testid="current"
      onClick={() => (drawerOpen.value = true)}
      aria-haspopup="dialog"
    >
      {session && <StatusDot session={session} />}
      <span class="current-name">{session?.name ?? "Sessions"}</span>
      {session && <PlaceMark session={session} />}
      {session && <GitMark session={session} />}
      <span class="count">{sessionList.value.byId.size}</span>
    </button>
  );
}

/** What is in front, where the sessions stand at the side. */
function Front() {
  const session = activeSession.value;
  return (
    <span class="front" data-testid="front">
      {session && <StatusDot session={session} />}
      <span class="front-name">{session?.name}</span>
      {session && <span class="dim">{shortPath(session.workingDir)}</span>}
    </span>
  );
}

export function TopBar() {
  const session = activeSession.value;
  const actions = (event: MouseEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    if (session) openSessionMenu(session, box.left, box.bottom + 4);
  };
  return (
    <header class="topbar">
      <IconButton
        icon="menu"
        class="phone-only"
        label="List of sessions"
        testid="open-drawer"
        onClick={() => (drawerOpen.value = true)}
      />
      <span class="brand-box desk-only">
        <Brand />
      </span>
      <IconButton
        icon="menu"
        class="wide-only"
        label={sidebarShown.value ? "Sessions as tabs" : "Sessions at the side"}
        keys="Alt+Shift+B"
        testid="toggle-sidebar"
        pressed={sidebarShown.value}
        onClick={toggleSidebar}
      />
      <Current />
      {sidebarShown.value ? <Front /> : <Tabs />}
      <IconButton
        icon="plus"
        class="new"
        label="New session"
        keys="Alt+Shift+N"
        testid="new-session-button"
        onClick={openNew}
      />
      <WebStrip />
      <span class="spring" />
      <span class="desk-only plan-place">
        <PlanChips />
      </span>
      {session && (
        <IconButton
          icon="search"
          class="desk-only"
          label="Search"
          keys="Ctrl+Shift+F"
          testid="open-search"
          onClick={() => (searchOpen.value = true)}
        />
      )}
      {session && (
        <IconButton
          icon="panel"
          class="wide-only"
          label="Panel beside the terminal"
          keys="Alt+Shift+L"
          testid="toggle-panel"
          pressed={besidePage.value !== undefined}
          onClick={() => togglePanel(FILES_PAGE)}
        />
      )}
      <Bell />
      {session && (
        <IconButton
          icon="more"
          class="phone-only"
          label={`Actions for ${session.name}`}
          testid="session-actions"
          onClick={actions}
        />
      )}
      <IconButton
        icon="settings"
        label="Pages and settings"
        testid="open-pages"
        onClick={(event) => menuUnder("Pages", pageItems(), event.currentTarget as Element)}
      />
    </header>
  );
}
