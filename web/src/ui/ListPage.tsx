/** A page that is a list: what it is of, the way to a new entry, what went wrong, and the entries. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Icon } from "./Icon.tsx";
import { Problem } from "./Problem.tsx";
import { useReturnFocus } from "./useReturnFocus.ts";
import "./styles/records.css";

interface Adding {
  label: string;
  testid: string;
  /** The form, in which `close` ends the adding. */
  form: (close: () => void) => ComponentChildren;
}

interface Props<T> {
  testid: string;
  class?: string;
  /** What the list is of. */
  summary: ComponentChildren;
  /** The summary counts the entries, which is said aloud. */
  counted?: boolean;
  /** Absent: nothing can be added. */
  add?: Adding | undefined;
  /** More than the way to a new entry. */
  actions?: ComponentChildren;
  problem: string;
  busy?: boolean;
  /** Undefined until they were read. */
  items: readonly T[] | undefined;
  /** Shown in the place of no entries. */
  empty?: ComponentChildren;
  row: (item: T) => ComponentChildren;
  /** Between the bar and the form. */
  lead?: (adding: boolean) => ComponentChildren;
  /** Between the form and the entries. */
  children?: () => ComponentChildren;
}

export function ListPage<T>(props: Props<T>) {
  const { testid, summary, counted, add, actions, problem, busy, items, empty, row, children } = props;
  const [adding, setAdding] = useState(false);
  const opener = useReturnFocus(adding);
  return (
    <div class={`records-page ${props.class ?? ""}`} aria-busy={busy} data-testid={testid}>
      <div class="records-bar">
        <span class="dim" role={counted ? "status" : undefined}>
          {summary}
        </span>
        {actions}
        {add && !adding && (
          <button
            ref={opener}
            type="button"
            class="button primary"
            onClick={() => setAdding(true)}
            data-testid={add.testid}
          >
            <Icon name="plus" size={16} /> {add.label}
          </button>
        )}
      </div>
      {props.lead?.(adding)}
      {adding && add?.form(() => setAdding(false))}
      {children?.()}
      <Problem text={problem} testid={`${testid}-problem`} />
      {items?.length === 0 && !adding && empty && <p class="records-none dim">{empty}</p>}
      <ul class="records">{items?.map(row)}</ul>
    </div>
  );
}
