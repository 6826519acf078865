/** A dialog: modal, the browser's own element keeps the focus inside; else it is a part of the page. */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef } from "preact/hooks";
import { restoreDefaultFocus } from "./defaultfocus.ts";
import { IconButton } from "./IconButton.tsx";
import { comeToFront, topDialog } from "./topdialog.ts";
import "./pages/styles.ts";

/** The browser would start at the close button: the first choice or field is of more use. */
function startInside(dialog: HTMLDialogElement, atTitle: boolean): void {
  if (dialog.querySelector(".dialog-content")?.contains(document.activeElement)) return;
  const wanted = atTitle ? "[autofocus]" : ":is([autofocus], :checked, .field)";
  const inside = dialog.querySelector<HTMLElement>(`.dialog-content ${wanted}`);
  (inside ?? dialog.querySelector("h2"))?.focus();
}

interface Props {
  /** What is around it cannot be reached; without a word it is so. */
  modal?: boolean;
  title: string;
  /** The focus starts at the title, and letters are keys of the page; else in the first field. */
  startAtTitle?: boolean;
  onClose: () => void;
  children: ComponentChildren;
  footer?: ComponentChildren;
  class?: string;
  testid?: string;
}

export function Dialog({ title, onClose, children, footer, testid, modal = true, ...rest }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const close = useRef(onClose);
  close.current = onClose;
  // What had the focus may be gone: then nothing has it, and Escape is for what is in front.
  useEffect(() => {
    if (modal) return;
    const unfocused = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented || event.target !== document.body) return;
      if (topDialog.peek() === ref.current) close.current();
    };
    addEventListener("keydown", unfocused);
    return () => removeEventListener("keydown", unfocused);
  }, []);
  useLayoutEffect(() => {
    const dialog = ref.current;
    if (!dialog) return;
    const before = document.activeElement;
    if (modal) dialog.showModal();
    else dialog.show();
    const leaveFront = comeToFront(dialog);
    startInside(dialog, rest.startAtTitle === true);
    return () => {
      leaveFront();
      dialog.close();
      // A modal one gives the focus away by itself.
      if (dialog.contains(document.activeElement)) (document.activeElement as HTMLElement).blur();
      if (before instanceof HTMLElement) before.focus();
      // It may be gone or hidden by now.
      if (document.activeElement !== before || before === document.body) restoreDefaultFocus();
    };
  }, []);
  const backdrop = (event: MouseEvent) => {
    if (modal && event.target === ref.current) onClose();
  };
  const cancel = (event: Event) => {
    event.preventDefault();
    onClose();
  };
  // A modal one hears of it by itself. What stands within comes first: a field, a dialog of its own.
  const escape = (event: KeyboardEvent) => {
    if (modal || event.key !== "Escape" || event.defaultPrevented) return;
    if ((event.target as Element).closest("dialog") === ref.current) onClose();
  };
  return (
    <dialog
      ref={ref}
      class={`dialog ${rest.class ?? ""}`}
      aria-labelledby={titleId}
      data-testid={testid}
      onCancel={cancel}
      onMouseDown={backdrop}
      onKeyDown={escape}
    >
      <section class="dialog-body">
        <header class="dialog-head">
          <h2 id={titleId} tabIndex={-1}>
            {title}
          </h2>
          <IconButton icon="close" label="Close dialog" onClick={onClose} />
        </header>
        <div class="dialog-content">{children}</div>
        {footer && <footer class="dialog-foot">{footer}</footer>}
      </section>
    </dialog>
  );
}
