import { useEffect, useRef } from "preact/hooks";
import { Icon } from "./Icon.tsx";
import { IconButton } from "./IconButton.tsx";
import { dismiss, type Toast, type ToastAction, toasts } from "./toasts.ts";

function Action({ toast, action }: { toast: Toast; action: ToastAction }) {
  const act = () => {
    dismiss(toast.id);
    action.act();
  };
  return (
    <button type="button" class="button small" onClick={act} data-testid="toast-action">
      {action.label}
    </button>
  );
}

function ToastCard({ toast }: { toast: Toast }) {
  return (
    <li class={`toast ${toast.tone}`} data-testid="toast" data-tone={toast.tone}>
      <Icon name={toast.tone === "bad" ? "alert" : "check"} />
      <div class="toast-text">
        <strong>{toast.title}</strong>
        {toast.text && <span>{toast.text}</span>}
        {toast.action && <Action toast={toast} action={toast.action} />}
      </div>
      <IconButton icon="close" label="Dismiss" onClick={() => dismiss(toast.id)} />
    </li>
  );
}

/** Shown again with every change, which puts it above whatever dialog is open by then. */
function raise(region: HTMLElement | null): void {
  if (!region?.isConnected) return;
  region.hidePopover();
  region.showPopover();
}

/** The live region stays in the page, so that screen readers hear what comes into it. */
export function Toasts() {
  const ref = useRef<HTMLDivElement>(null);
  const list = toasts.value;
  useEffect(() => raise(ref.current), [list]);
  return (
    <div ref={ref} class="toasts" role="status" aria-live="polite" popover="manual">
      <ul>
        {list.map((toast) => (
          <ToastCard key={toast.id} toast={toast} />
        ))}
      </ul>
    </div>
  );
}
