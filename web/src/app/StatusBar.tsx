/** The line below the terminal: what this session is and does. */
import type { Session } from "../api/types.ts";
import { lookOf, wordOf } from "../sessions/status.ts";
import { activeSession, cliOf, sessionList } from "../store/state.ts";
import { currentView } from "../terminal/current.ts";
import { Icon } from "../ui/Icon.tsx";

function State({ session }: { session: Session }) {
  const look = lookOf(session, sessionList.value.attention.has(session.id));
  return (
    <span class="state" data-look={look} title={session.statusReason ?? ""} data-testid="state">
      <span class="dot" data-look={look} />
      {wordOf(look)}
      {session.statusReason && <small>{session.statusReason}</small>}
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
  const used = session.contextUsedPercentage;
  return (
    <footer class="statusbar">
      <State session={session} />
      <span class="where" title={session.workingDir}>
        <Icon name="folder" size={14} />
        <bdi>{session.workingDir}</bdi>
      </span>
      <span class="spring" />
      {session.displayModel && <span class="model">{session.displayModel}</span>}
      {used !== undefined && (
        <span title="share of the context window in use">{Math.round(used)}% context</span>
      )}
      <span>{cliOf(session.mode)?.label ?? session.mode}</span>
      <Grid session={session} />
    </footer>
  );
}
