import { PlanChips } from "../features/agents/PlanChips.tsx";
import { Bell } from "../features/approvals/Bell.tsx";
import { ViewSwitch } from "../features/conversation/ViewSwitch.tsx";
import { FLEET_PAGE, toggleFleet } from "../features/fleet/page.ts";
import { layoutItems } from "../features/grid/menu.ts";
import { gridOn, roomy } from "../features/grid/state.ts";
import { GitMark } from "../features/git/Badge.tsx";
import { LocationMarkSlot } from "../features/hosts/slots.tsx";
import { shortenPath } from "../lib/format.ts";
import { drawerOpen, newSessionOpen, searchOpen } from "../ui/pages/openpanels.ts";
import { StatusDot } from "../features/sessions/StatusDot.tsx";
import { Tabs } from "../features/sessions/Tabs.tsx";
import { sidebarShown, toggleSidebar } from "../features/sidebar/state.ts";
import { activeSession, sessionList } from "../store/state.ts";
import { showError } from "../store/toasts.ts";
import { Brand } from "../ui/Brand.tsx";
import { Icon } from "../ui/Icon.tsx";
import { IconButton } from "../ui/IconButton.tsx";
import { menuUnder } from "../ui/menu.ts";
import { besidePage, togglePanel } from "../ui/pages/panel.ts";
import { WebStripHost } from "../features/webtabs/WebHost.tsx";
import { FILES_PAGE, findPage, openPage } from "../ui/pages/registry.ts";
import { covered } from "../ui/pages/stage.ts";

const openNew = () => (newSessionOpen.value = true);

/** Its code comes when it is first asked for. */
function openPages(event: MouseEvent): void {
  const under = event.currentTarget as Element;
  import("./pagesmenu.ts").then(
    ({ openPagesMenu }) => openPagesMenu(under),
    (error: unknown) => showError("Couldn't open the menu", error),
  );
}

/** On a phone the row of tabs gives way to the name of the one session; all else is behind it. */
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
      {session && <LocationMarkSlot session={session} />}
      {session && <GitMark session={session} />}
      <span class="count">{sessionList.value.byId.size}</span>
      <Icon name="down" size={16} />
    </button>
  );
}

/** What is in front, where the sessions stand at the side. */
function Front() {
  const page = covered.value ? findPage(openPage.value) : undefined;
  const session = page ? undefined : activeSession.value;
  return (
    <span class="front" data-testid="front">
      {page && <Icon name={page.icon} />}
      {session && <StatusDot session={session} />}
      <span class="front-name">{page?.title ?? session?.name}</span>
      {session && <span class="dim">{shortenPath(session.workingDir)}</span>}
    </span>
  );
}

/** At the head of the sessions, along the top or at the side. */
const NewButton = () => (
  <IconButton
    icon="plus"
    class="new desk-only"
    label="New session"
    keys="Alt+Shift+N"
    testid="new-session-button"
    onClick={openNew}
  />
);

export function TopBar() {
  /** Whose terminal is in sight. */
  const session = covered.value ? undefined : activeSession.value;
  return (
    <header class="topbar">
      <button
        type="button"
        class="icon-button home desk-only"
        aria-label="Fleet"
        aria-pressed={openPage.value === FLEET_PAGE}
        title="Fleet  Alt+Shift+F"
        onClick={toggleFleet}
        data-testid="home"
      >
        <Brand />
      </button>
      <IconButton
        icon="menu"
        class="wide-only"
        label={sidebarShown.value ? "Show sessions as tabs" : "Show sessions in a sidebar"}
        keys="Alt+Shift+B"
        testid="toggle-sidebar"
        pressed={sidebarShown.value}
        onClick={toggleSidebar}
      />
      <IconButton
        icon="menu"
        class="middling-only"
        label="All sessions"
        testid="open-drawer"
        onClick={() => (drawerOpen.value = true)}
      />
      <Current />
      {sidebarShown.value ? (
        <>
          <NewButton />
          <Front />
        </>
      ) : (
        <>
          <Tabs />
          <NewButton />
        </>
      )}
      <WebStripHost />
      <span class="spring" />
      <span class="desk-only plan-place">
        <PlanChips />
      </span>
      {session && (
        <IconButton
          icon="search"
          class="desk-only"
          label="Search the terminal"
          keys="Ctrl+Shift+F"
          testid="open-search"
          onClick={() => (searchOpen.value = true)}
        />
      )}
      <ViewSwitch />
      {session && roomy.value && (
        <IconButton
          icon="cells"
          class="desk-only"
          label="Terminals side by side"
          testid="open-layout"
          pressed={gridOn.value}
          onClick={(event) => menuUnder("Terminals", layoutItems(), event.currentTarget as Element)}
        />
      )}
      {session && (
        <IconButton
          icon="panel"
          class="wide-only"
          label="Toggle panel"
          keys="Alt+Shift+L"
          testid="toggle-panel"
          pressed={besidePage.value !== undefined}
          onClick={() => togglePanel(FILES_PAGE)}
        />
      )}
      <Bell />
      <IconButton
        icon="more"
        class="desk-only"
        label="Pages and settings"
        testid="open-pages"
        onClick={openPages}
      />
    </header>
  );
}
