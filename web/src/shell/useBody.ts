/** The component of a page, once its code is there. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { showError } from "../store/toasts.ts";
import type { Page } from "../ui/pages/registry.ts";

/** @param close is called where it cannot be loaded, which a person is told. */
export function useBody(page: Page, close: () => void): ComponentType | undefined {
  const [Body, setBody] = useState<ComponentType>();
  useEffect(() => {
    let alive = true;
    page.load().then(
      (body) => alive && setBody(() => body),
      (error: unknown) => {
        if (!alive) return;
        showError("Couldn't load the page", error);
        close();
      },
    );
    return () => {
      alive = false;
    };
  }, [page]);
  return Body;
}
