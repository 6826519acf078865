/** The place of a component whose code comes when it is first shown. */
import { signal } from "@preact/signals";
import type { ComponentChildren, ComponentType, FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import { formatError } from "../api/errors.ts";

interface Options<P> {
  /** The code did not come; it is asked for again when the component is shown again. */
  failed?: (error: unknown) => void;
  /** @param problem why the code did not come; empty: it is on its way. */
  waiting?: (problem: string, props: P) => ComponentChildren;
}

export type LazySlot<P> = FunctionComponent<P> & {
  /** Ask for the code before the component is shown. */
  preload: () => Promise<void>;
};

export function lazySlot<P extends object>(
  load: () => Promise<ComponentType<P>>,
  { failed, waiting }: Options<P>,
): LazySlot<P> {
  const view = signal<ComponentType<P> | undefined>(undefined);
  const problem = signal("");
  let loading = false;
  const preload = async () => {
    if (loading || view.peek()) return;
    loading = true;
    problem.value = "";
    try {
      view.value = await load();
    } catch (error) {
      problem.value = formatError(error);
      failed?.(error);
    }
    loading = false;
  };
  function Slot(props: P) {
    useEffect(() => void preload(), []);
    const View = view.value;
    return View ? <View {...props} /> : waiting?.(problem.value, props);
  }
  return Object.assign(Slot, { preload });
}
