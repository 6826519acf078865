/** Shows the open page of the registry: in the place of the terminals, or beside them. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { showError } from "../store/toasts.ts";
import { besidePage, closePanel } from "../ui/pages/panel.ts";
import { findPage, openPage, type Page } from "../ui/pages/registry.ts";
import { StageFrame } from "../ui/pages/StageFrame.tsx";
import { useBody } from "./useBody.ts";

function close(): void {
  openPage.value = undefined;
}

function Loaded({ page }: { page: Page }) {
  const Body = useBody(page, close);
  return (
    <StageFrame as="page" title={page.title} onClose={close} class="page" testid={`page-${page.id}`}>
      {Body ? <Body /> : <p class="dim">Loading…</p>}
    </StageFrame>
  );
}

export function PageHost() {
  const page = findPage(openPage.value);
  return page ? <Loaded key={page.id} page={page} /> : null;
}

/** Its code comes with the first page that is shown there. */
export function PanelHost() {
  const [Panel, setPanel] = useState<ComponentType<{ page: Page }>>();
  const page = besidePage.value;
  useEffect(() => {
    if (!page || Panel) return;
    import("./Panel.tsx").then(
      ({ Panel: loaded }) => setPanel(() => loaded),
      (error: unknown) => {
        showError("Couldn't load the page", error);
        closePanel();
      },
    );
  }, [page]);
  return page && Panel ? <Panel page={page} /> : null;
}
