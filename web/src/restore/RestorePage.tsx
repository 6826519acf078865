/** What a reboot has ended: what will be there of each, and what became of it. */
import type { RestorableSessionResponse } from "../api/types.ts";
import { shortPath } from "../lib/format.ts";
import { agoText } from "../lib/ago.ts";
import { cliOf } from "../store/state.ts";
import { Icon } from "../ui/Icon.tsx";
import { useNow } from "../ui/useNow.ts";
import { bringBack, dismissOffer, offer, outcomes, progress, restoring } from "./state.ts";
import { headline, promise, standsFor, trouble } from "./words.ts";
import "../ui/styles/records.css";

function Row({ lost, now }: { lost: RestorableSessionResponse; now: number }) {
  const cli = cliOf(lost.mode);
  const problem = trouble(outcomes.value.get(lost.id));
  const current = progress.value?.sessionId === lost.id;
  return (
    <li class="record restore-row" aria-busy={current} data-session={lost.id} data-testid="restore-row">
      <span class="record-mark">{current ? <span class="spinner" /> : (cli?.shortBadge ?? "?")}</span>
      <span class="record-main">
        <span class="record-title">
          <strong>{lost.name}</strong>
          <small class="dim" title={lost.workingDir}>
            {shortPath(lost.workingDir)}
          </small>
        </span>
        <small class="dim">
          {promise(lost, cli?.kind === "shell")} · last active {agoText(lost.lastActivityAt, now)}
        </small>
        {problem && (
          <small class="restore-problem" role="alert">
            <Icon name="alert" size={14} /> {problem}
          </small>
        )}
      </span>
      <button
        type="button"
        class="button small"
        disabled={restoring.value}
        aria-label={`Bring ${lost.name} back`}
        onClick={() => void bringBack([lost.id])}
        data-testid="restore-one"
      >
        Bring back
      </button>
    </li>
  );
}

function Foot() {
  return (
    <footer class="restore-foot">
      <button
        type="button"
        class="button"
        disabled={restoring.value}
        onClick={() => void dismissOffer()}
        data-testid="restore-page-dismiss"
      >
        Dismiss
      </button>
      <button
        type="button"
        class="button primary"
        disabled={restoring.value}
        onClick={() => void bringBack()}
        data-testid="restore-page-all"
      >
        {restoring.value ? <span class="spinner" /> : <Icon name="refresh" size={16} />} Bring all back
      </button>
    </footer>
  );
}

export function RestorePage() {
  const now = useNow();
  const lost = offer.value?.sessions ?? [];
  if (lost.length === 0) {
    return (
      <div class="restore-none" data-testid="restore-none">
        <Icon name="check" size={28} />
        <p>Everything is back, or was dismissed.</p>
      </div>
    );
  }
  return (
    <div class="restore" data-testid="restore">
      <p class="restore-head" role="status">
        <strong>{headline(offer.value, progress.value)}</strong>
        <small class="dim">
          Agents start one at a time. {standsFor(offer.value?.expiresAt ?? null, now)} A session that is
          dismissed stays in the list.
        </small>
      </p>
      <ul class="records">
        {lost.map((each) => (
          <Row key={each.id} lost={each} now={now} />
        ))}
      </ul>
      <Foot />
    </div>
  );
}
