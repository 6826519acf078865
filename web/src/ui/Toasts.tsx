import { Button } from "./Button.tsx";
import { effect } from "@preact/signals";
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "./Icon.tsx";
import { IconButton } from "./IconButton.tsx";
import { dismissToast, type Toast, type ToastAction, toasts } from "../store/toasts.ts";
import { topDialog } from "./topdialog.ts";

function Action({ toast, action }: { toast: Toast; action: ToastAction }) {
  const act = () => {
    dismissToast(toast.id);
    action.act();
  };
  return (
    <Button small onClick={act} testid="toast-action">
      {action.label}
    </Button>
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
      <IconButton icon="close" label="Dismiss" onClick={() => dismissToast(toast.id)} />
    </li>
  );
}

/** Shown again with every change, which puts it above whatever popover is open by then. */
function raise(region: HTMLElement | null): void {
  if (!region?.isConnected) return;
  region.hidePopover();
  region.showPopover();
}

/** The live region is there before its messages, so that screen readers hear what comes into it. */
function Region() {
  const ref = useRef<HTMLDivElement>(null);
  const list = toasts.value;
  const front = topDialog.value;
  useEffect(() => raise(ref.current), [list, front]);
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

/** Within the dialog in front, or their buttons could not be pressed while one is open. */
function host(): () => void {
  const place = document.createElement("div");
  const stop = effect(() => (topDialog.value ?? document.body).append(place));
  render(<Region />, place);
  return () => {
    stop();
    render(null, place);
    place.remove();
  };
}

export function Toasts() {
  useEffect(host, []);
  return null;
}
