/** Shows the open page of the registry in a dialog. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Dialog } from "../ui/Dialog.tsx";
import { failed } from "../ui/toasts.ts";
import { findPage, openPage, type Page } from "./registry.ts";

function close(): void {
  openPage.value = undefined;
}

function Loaded({ page }: { page: Page }) {
  const [Body, setBody] = useState<ComponentType>();
  useEffect(() => {
    let alive = true;
    page.load().then(
      (body) => alive && setBody(() => body),
      (error: unknown) => {
        failed("The page could not be loaded", error);
        close();
      },
    );
    return () => {
      alive = false;
    };
  }, [page]);
  return (
    <Dialog title={page.title} onClose={close} class="page" testid={`page-${page.id}`}>
      {Body ? <Body /> : <p class="dim">Loading…</p>}
    </Dialog>
  );
}

export function PageHost() {
  const page = findPage(openPage.value);
  return page ? <Loaded key={page.id} page={page} /> : null;
}
