/** The place of a component whose code comes when it is first shown. */
import { signal } from "@preact/signals";
import type { ComponentChildren, ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { formatError } from "../api/errors.ts";

interface Options {
  /** The code did not come; it is asked for again when the component is shown again. */
  failed?: (error: unknown) => void;
  /** @param problem why the code did not come; empty: it is on its way. */
  waiting?: (problem: string) => ComponentChildren;
}

export function lazySlot<P extends object>(
  load: () => Promise<ComponentType<P>>,
  { failed, waiting }: Options,
): ComponentType<P> {
  const view = signal<ComponentType<P> | undefined>(undefined);
  const problem = signal("");
  let loading = false;
  const begin = async () => {
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
  return function LazySlot(props: P) {
    useEffect(() => void begin(), []);
    const View = view.value;
    return View ? <View {...props} /> : waiting?.(problem.value);
  };
}
