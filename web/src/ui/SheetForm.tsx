/** The frame of a form on a page: its fields, what went wrong, and how it ends. */
import { Button } from "./Button.tsx";
import type { ComponentChildren } from "preact";
import { Problem } from "./Problem.tsx";
import { useFirstField } from "./useFirstField.ts";

interface Props {
  label: string;
  testid: string;
  class?: string;
  onSubmit: (event: Event) => Promise<void>;
  onClose: () => void;
  /** Of no field. */
  problem: string;
  /** It cannot be sent now. */
  busy: boolean;
  /** What the button says, at rest and while the form is sent. */
  action: string;
  pending?: string;
  /** Of the button, for tests. */
  actionTestid: string;
  /** Beside the buttons. */
  note?: string;
  /** The fields say what is wrong, not the browser. */
  noValidate?: boolean;
  children: ComponentChildren;
}

export function SheetForm(props: Props) {
  const { label, testid, onSubmit, onClose, problem, busy, action, pending = action, note } = props;
  return (
    <form
      ref={useFirstField()}
      class={`sheet ${props.class ?? ""}`}
      onSubmit={(event) => void onSubmit(event)}
      noValidate={props.noValidate}
      aria-label={label}
      data-testid={`${testid}-form`}
    >
      {props.children}
      <Problem text={problem} testid={`${testid}-problem`} />
      <div class="sheet-foot">
        {note && <small>{note}</small>}
        <Button onClick={onClose}>Cancel</Button>
        <Button submit primary disabled={busy} testid={props.actionTestid}>
          {busy ? pending : action}
        </Button>
      </div>
    </form>
  );
}
