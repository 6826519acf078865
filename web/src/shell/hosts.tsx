/** What opens over the terminals and beside them; its code comes when it is first shown. */
import { useEffect, useState } from "preact/hooks";
import { hasReceivedInit } from "../api/stream/connection.ts";
import { sidebarShown } from "../features/sidebar/state.ts";
import { openQuestion } from "../ui/ask.ts";
import { showError } from "../store/toasts.ts";
import { lazySlot } from "../ui/lazySlot.tsx";
import { drawerOpen, paletteOpen } from "../ui/pages/openpanels.ts";
import { besidePage, closePanel, panelState } from "../ui/pages/panel.ts";
import { findPage, openPage, type Page } from "../ui/pages/registry.ts";
import { Skeleton } from "../ui/Skeleton.tsx";
import { useLeaveField } from "../ui/useLeaveField.ts";
import { wide } from "../ui/width.ts";
import { preloadPage } from "./PageBody.tsx";

const Panel = lazySlot(async () => (await import("./Panel.tsx")).Panel, {
  failed: (error) => {
    showError("Couldn't load the page", error);
    closePanel();
  },
  waiting: (_problem, { page }) => (
    <div class="panel-place" style={{ "--panel": `${panelState.value.width}px` }}>
      <Skeleton label={page.title} rows={4} />
    </div>
  ),
});

export function PanelHost() {
  const page = besidePage.value;
  return page ? <Panel page={page} /> : null;
}

const waitingPage = (_problem: string, { page }: { page: Page }) => (
  <div class="staged">
    <Skeleton label={page.title} rows={4} />
  </div>
);

const StagedPage = lazySlot(async () => (await import("./StagedPage.tsx")).StagedPage, {
  failed: (error) => {
    openPage.value = undefined;
    showError("Couldn't load the page", error);
  },
  waiting: waitingPage,
});

function PagePlace({ page }: { page: Page }) {
  const [loaded, setLoaded] = useState(false);
  useEffect(
    () => void Promise.all([StagedPage.preload(), preloadPage(page)]).then(() => setLoaded(true)),
    [],
  );
  // The frame has the width of what stands in it, and would grow.
  return loaded ? <StagedPage page={page} /> : waitingPage("", { page });
}

export function PageHost() {
  const page = findPage(openPage.value);
  useLeaveField(page !== undefined);
  return page ? <PagePlace key={page.id} page={page} /> : null;
}

const AskDialog = lazySlot(async () => (await import("../ui/AskDialog.tsx")).AskDialog, {
  failed: (error) => {
    openQuestion.peek()?.answer(undefined);
    showError("Couldn't ask the question", error);
  },
});

export function AskHost() {
  const asked = openQuestion.value !== undefined;
  useLeaveField(asked);
  return asked ? <AskDialog /> : null;
}

const Drawer = lazySlot(async () => (await import("./Drawer.tsx")).Drawer, {
  failed: (error) => {
    drawerOpen.value = false;
    showError("Couldn't open the session list", error);
  },
});

/** Where nothing else lists the sessions its code comes with the first touch, before it is asked for. */
export function DrawerHost() {
  const alone = hasReceivedInit.value && !wide.value && !sidebarShown.value;
  useEffect(() => {
    if (!alone) return;
    const preload = () => void Drawer.preload();
    addEventListener("pointerdown", preload, { once: true });
    return () => removeEventListener("pointerdown", preload);
  }, [alone]);
  return drawerOpen.value ? <Drawer /> : null;
}

const Palette = lazySlot(async () => (await import("../features/palette/Palette.tsx")).Palette, {
  failed: (error) => {
    paletteOpen.value = false;
    showError("Couldn't open the command palette", error);
  },
});

/** The first key asks for its code: the letters that follow the shortcut are for its field. */
export function PaletteHost() {
  const opens = paletteOpen.value;
  useLeaveField(opens);
  useEffect(() => {
    const preload = () => void Palette.preload();
    addEventListener("keydown", preload, { once: true, capture: true });
    return () => removeEventListener("keydown", preload, { capture: true });
  }, []);
  return opens ? <Palette /> : null;
}
