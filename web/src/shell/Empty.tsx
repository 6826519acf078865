/** What to do where there is no session yet. */
import { newSessionOpen } from "../ui/pages/openpanels.ts";
import { Brand } from "../ui/Brand.tsx";
import { Icon } from "../ui/Icon.tsx";
import { coarse } from "../features/touch/state.ts";

const TIPS = [
  ["Keeps running", "Close the page or restart the server. Your agents carry on."],
  ["On every device", "Open the same session on your phone. It resizes to the screen you use."],
  [
    "Agents and shells",
    "Run a coding agent or a plain shell. Its status dot shows when it is done or needs you.",
  ],
] as const;

/** The page came from this device's own copy, or the service is away; the banner says which. */
export function NoConnection() {
  return (
    <section class="empty" data-testid="unreached">
      <Brand large />
      <h1>No connection</h1>
      <p>Your sessions keep running on the server. They appear here when you're connected again.</p>
    </section>
  );
}

export function Empty() {
  return (
    <section class="empty" data-testid="empty">
      <Brand large />
      <h1>No sessions yet</h1>
      <p>A session is a terminal on the server. It keeps running when you close this page.</p>
      <button
        type="button"
        class="button primary large"
        onClick={() => (newSessionOpen.value = true)}
        data-testid="empty-new"
      >
        <Icon name="plus" /> Start a session
        {!coarse.value && <kbd>Alt+Shift+N</kbd>}
      </button>
      <ul class="tips">
        {TIPS.map(([title, text]) => (
          <li key={title}>
            <strong>{title}</strong>
            <span>{text}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
