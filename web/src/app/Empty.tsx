/** What to do where there is no session yet. */
import { newSessionOpen } from "../sessions/newsession.ts";
import { Brand } from "../ui/Brand.tsx";
import { Icon } from "../ui/Icon.tsx";
import { coarse } from "../touch/state.ts";

const TIPS = [
  [
    "It stays alive",
    "Close this page or restart the service: the program goes on, and you find it as it is.",
  ],
  ["On every device", "Open the same session on the phone. It takes the size of whoever looks."],
  [
    "Agents and shells",
    "Run a coding agent or a plain shell; the dot on its tab tells when it is done or waits for you.",
  ],
] as const;

/** The page came from this device's own copy, or the service is away; the banner says which. */
export function Unreached() {
  return (
    <section class="empty" data-testid="unreached">
      <Brand large />
      <h1>No connection</h1>
      <p>Your sessions go on at the service. They appear here as soon as it can be reached.</p>
    </section>
  );
}

export function Empty() {
  return (
    <section class="empty" data-testid="empty">
      <Brand large />
      <h1>No session yet</h1>
      <p>A session is a terminal on the service's machine that outlives this page.</p>
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
