/** What a reboot has ended: what will be there of each, and what became of it. */
import { Button } from "../../ui/Button.tsx";
import type { RestorableSessionResponse } from "../../api/types.ts";
import { shortenPath } from "../../lib/format.ts";
import { formatAgo } from "../../lib/ago.ts";
import { cliOf } from "../../store/state.ts";
import { Icon } from "../../ui/Icon.tsx";
import { useNow } from "../../ui/useNow.ts";
import { restoreSessions, dismissOffer, offer, outcomes, progress, restoring } from "./state.ts";
import { describeOffer } from "./texts.ts";
import { describeRestore, describeExpiry, explainFailure } from "./texts.ts";
import "../../ui/styles/records.css";
import "./restore.css";

function Row({ lost, now }: { lost: RestorableSessionResponse; now: number }) {
  const cli = cliOf(lost.mode);
  const problem = explainFailure(outcomes.value.get(lost.id));
  const current = progress.value?.sessionId === lost.id;
  return (
    <li class="record restore-row" aria-busy={current} data-session={lost.id} data-testid="restore-row">
      <span class="record-mark">{current ? <span class="spinner" /> : (cli?.shortBadge ?? "?")}</span>
      <span class="record-main">
        <span class="record-title">
          <strong>{lost.name}</strong>
          <small class="dim" title={lost.workingDir}>
            {shortenPath(lost.workingDir)}
          </small>
        </span>
        <small class="dim">
          {describeRestore(lost, cli?.kind === "shell")} · last active {formatAgo(lost.lastActivityAt, now)}
        </small>
        {problem && (
          <small class="restore-problem" role="alert">
            <Icon name="alert" size={14} /> {problem}
          </small>
        )}
      </span>
      <Button
        small
        disabled={restoring.value}
        label={`Restore ${lost.name}`}
        onClick={() => void restoreSessions([lost.id])}
        testid="restore-one"
      >
        Restore
      </Button>
    </li>
  );
}

function Foot() {
  return (
    <footer class="restore-foot">
      <Button disabled={restoring.value} onClick={() => void dismissOffer()} testid="restore-page-dismiss">
        Dismiss
      </Button>
      <Button
        primary
        disabled={restoring.value}
        onClick={() => void restoreSessions()}
        testid="restore-page-all"
      >
        {restoring.value ? <span class="spinner" /> : <Icon name="refresh" size={16} />} Restore all
      </Button>
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
        <p>No sessions to restore.</p>
      </div>
    );
  }
  return (
    <div class="restore" data-testid="restore">
      <p class="restore-head" role="status">
        <strong>{describeOffer(offer.value, progress.value)}</strong>
        <small class="dim">
          Agents start one at a time. {describeExpiry(offer.value?.expiresAt ?? null, now)} Dismissed sessions
          stay in the list.
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
