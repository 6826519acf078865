/** The component of a page, once its code is there. */
import { showError } from "../store/toasts.ts";
import { lazySlot, type LazySlot } from "../ui/lazySlot.tsx";
import { closePanel, panelState } from "../ui/pages/panel.ts";
import { openPage, type Page } from "../ui/pages/registry.ts";
import { Skeleton } from "../ui/Skeleton.tsx";

const bodies = new WeakMap<Page, LazySlot<object>>();

/** A page that cannot be loaded closes, which a person is told. */
function close({ id }: Page): void {
  if (openPage.peek() === id) openPage.value = undefined;
  if (panelState.peek().page === id) closePanel();
}

function bodyOf(page: Page): LazySlot<object> {
  const known = bodies.get(page);
  if (known) return known;
  const body = lazySlot(page.load, {
    failed: (error) => {
      showError("Couldn't load the page", error);
      close(page);
    },
    waiting: () => <Skeleton label={page.title} rows={4} />,
  });
  bodies.set(page, body);
  return body;
}

/** Ask for the code of a page before it is shown. */
export const preloadPage = (page: Page): Promise<void> => bodyOf(page).preload();

export function PageBody({ page }: { page: Page }) {
  const Body = bodyOf(page);
  return <Body />;
}
