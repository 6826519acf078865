/** A view whose code comes when it is first wanted. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { formatError } from "../../api/errors.ts";

export function useView<P>(load: () => Promise<ComponentType<P>>) {
  const [View, setView] = useState<ComponentType<P>>();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let alive = true;
    load().then(
      (loaded) => alive && setView(() => loaded),
      (error: unknown) => alive && setProblem(formatError(error)),
    );
    return () => {
      alive = false;
    };
  }, []);
  return { View, problem };
}
