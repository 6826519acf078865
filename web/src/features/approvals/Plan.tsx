/** The plan that an agent asks to carry out; the code that draws Markdown comes with the first one. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { showError } from "../../store/toasts.ts";

export function Plan({ text }: { text: string }) {
  const [View, setView] = useState<ComponentType<{ text: string }>>();
  useEffect(() => {
    let alive = true;
    import("../files/Preview.tsx").then(
      ({ Preview }) => alive && setView(() => Preview),
      (error: unknown) => showError("Couldn't show the plan", error),
    );
    return () => {
      alive = false;
    };
  }, []);
  return (
    <div class="approval-plan" tabIndex={0} role="group" aria-label="Plan" data-testid="approval-plan">
      {View ? <View text={text} /> : <p class="plain-text">{text}</p>}
    </div>
  );
}
