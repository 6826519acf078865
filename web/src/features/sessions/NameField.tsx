/** A session's name, being written in the place where it stands. */
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Session } from "../../api/types.ts";
import { EMPTY_NAME, restoreFocus, saveName, NAME_LENGTH, naming } from "./naming.ts";

export function NameField({ session }: { session: Session }) {
  const ref = useRef<HTMLInputElement>(null);
  const done = useRef(false);
  const from = useRef<Element | null>(null);
  // A key that follows at once is its, too.
  useLayoutEffect(() => {
    from.current = document.activeElement;
    ref.current?.focus();
    ref.current?.select();
  }, []);
  const finish = (name: string | undefined) => {
    if (done.current) return;
    done.current = true;
    if (naming.value === session.id) naming.value = undefined;
    if (name !== undefined) void saveName(session, name);
  };
  const key = (event: KeyboardEvent) => {
    event.stopPropagation();
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    finish(event.key === "Enter" ? ref.current?.value : undefined);
    restoreFocus(session.id, from.current);
  };
  return (
    <input
      ref={ref}
      class="name-edit"
      defaultValue={session.name}
      maxLength={NAME_LENGTH}
      placeholder="Automatic"
      title={EMPTY_NAME}
      aria-label="Session name"
      data-testid="rename"
      onKeyDown={key}
      onBlur={(event) => finish(event.currentTarget.value)}
    />
  );
}
