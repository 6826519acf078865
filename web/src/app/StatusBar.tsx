/** The line below the terminal: what this session is and does. */
import { hintOf } from "../agents/reason.ts";
import { SessionChips } from "../agents/SessionChips.tsx";
import { standing } from "../agents/standing.ts";
import type { Session } from "../api/types.ts";
import { GitChip } from "../git/Badge.tsx";
import { PlaceMark } from "../hosts/slots.tsx";
import { isAway } from "../hosts/state.ts";
import { lost } from "./lost.ts";
import { activeSession, cliOf } from "../store/state.ts";
import { currentView } from "../terminal/current.ts";
import { Icon } from "../ui/Icon.tsx";

function State({ session }: { session: Session }) {
  const now = standing(session);
  const stale = lost.value !== undefined || isAway(session.id);
  return (
    <span class="state" data-look={now.look} data-tip={hintOf(now)} data-testid="state">
      <span class="dot" data-look={now.look} data-stale={stale} />
      {stale ? `last known: ${now.word}` : now.word}
      {now.reason && <small>{now.reason}</small>}
    </span>
  );
}

function Grid({ session }: { session: Session }) {
  const foreign = currentView.value?.foreignSize.value;
  return (
    <span class="grid" title={foreign ? "another window holds the size" : "columns × rows"}>
      {session.cols}×{session.rows}
    </span>
  );
}

export function StatusBar() {
  const session = activeSession.value;
  if (!session) return null;
  return (
    <footer class="statusbar">
      <State session={session} />
      <PlaceMark session={session} />
      <span class="where" title={session.workingDir}>
        <Icon name="folder" size={14} />
        <bdi>{session.workingDir}</bdi>
      </span>
      <GitChip session={session} />
      <span class="spring" />
      <SessionChips session={session} />
      <span class="agent">{cliOf(session.mode)?.label ?? session.mode}</span>
      <Grid session={session} />
    </footer>
  );
}
