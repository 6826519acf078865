import { useLayoutEffect, useRef } from "preact/hooks";

/** The captured lines; the newest, which hold the dialog, are the ones in sight. */
export function Context({ text }: { text: string }) {
  const ref = useRef<HTMLPreElement>(null);
  useLayoutEffect(() => {
    if (ref.current) ref.current.scrollTop = ref.current.scrollHeight;
  }, [text]);
  return (
    <pre
      ref={ref}
      class="approval-context"
      tabIndex={0}
      aria-label="Terminal screen"
      data-testid="approval-context"
    >
      {text}
    </pre>
  );
}
