/** What opens over the terminals and beside them; its code comes when it is first shown. */
import { useEffect, useState } from "preact/hooks";
import { hasReceivedInit } from "../api/stream/connection.ts";
import { sidebarShown } from "../features/sidebar/state.ts";
import { showError } from "../store/toasts.ts";
import { lazySlot } from "../ui/lazySlot.tsx";
import { drawerOpen, paletteOpen } from "../ui/pages/openpanels.ts";
import { besidePage, closePanel, panelState } from "../ui/pages/panel.ts";
import { findPage, openPage, type Page } from "../ui/pages/registry.ts";
import { Skeleton } from "../ui/Skeleton.tsx";
import { StageFrame } from "../ui/pages/StageFrame.tsx";
import { wide } from "../ui/width.ts";
import { PageBody, preloadPage } from "./PageBody.tsx";

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

const closePage = () => (openPage.value = undefined);

function StagedPage({ page }: { page: Page }) {
  const [loaded, setLoaded] = useState(false);
  useEffect(() => void preloadPage(page).then(() => setLoaded(true)), []);
  // The frame has the width of what stands in it, and would grow.
  if (!loaded)
    return (
      <div class="staged">
        <Skeleton label={page.title} rows={4} />
      </div>
    );
  return (
    <StageFrame
      as="page"
      title={page.title}
      startAtTitle
      onClose={closePage}
      class="page"
      testid={`page-${page.id}`}
    >
      <PageBody page={page} />
    </StageFrame>
  );
}

export function PageHost() {
  const page = findPage(openPage.value);
  return page ? <StagedPage key={page.id} page={page} /> : null;
}

const Drawer = lazySlot(async () => (await import("./Drawer.tsx")).Drawer, {
  failed: (error) => {
    drawerOpen.value = false;
    showError("Couldn't open the session list", error);
  },
});

/** Its code comes early where nothing else lists the sessions. */
export function DrawerHost() {
  const alone = hasReceivedInit.value && !wide.value && !sidebarShown.value;
  useEffect(() => (alone ? void Drawer.preload() : undefined), [alone]);
  return drawerOpen.value ? <Drawer /> : null;
}

const Palette = lazySlot(async () => (await import("../features/palette/Palette.tsx")).Palette, {
  failed: (error) => {
    paletteOpen.value = false;
    showError("Couldn't open the command palette", error);
  },
});

export const PaletteHost = () => (paletteOpen.value ? <Palette /> : null);
