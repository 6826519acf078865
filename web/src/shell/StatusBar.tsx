/** The line below the terminal: what this session is and does; below a page: what all do. */
import { formatTooltip } from "../features/agents/statusdescription.ts";
import { SessionChips } from "../features/agents/SessionChips.tsx";
import { getCurrentStatus } from "../features/agents/currentstatus.ts";
import type { Session } from "../api/types.ts";
import { GitChip } from "../features/git/Badge.tsx";
import { LocationMarkSlot } from "../features/hosts/slots.tsx";
import { isUnreachable } from "../features/hosts/state.ts";
import { connectionNotice } from "../store/connectionnotice.ts";
import { activeSession, cliOf, sessions, updateNotice } from "../store/state.ts";
import { plural } from "../lib/format.ts";
import { finishedSessions, sessionsNeedingPerson } from "../features/approvals/state.ts";
import { covered } from "../ui/pages/stage.ts";
import { TRUSTED_MODE } from "../features/sessions/status.ts";
import { Servers } from "../features/webtabs/Servers.tsx";
import { currentView } from "../features/terminal/current.ts";
import { Icon } from "../ui/Icon.tsx";

function State({ session }: { session: Session }) {
  const now = getCurrentStatus(session);
  const stale = connectionNotice.value !== undefined || isUnreachable(session.id);
  return (
    <span class="state" data-state={now.state} data-tip={formatTooltip(now)} data-testid="state">
      <span class="dot" data-state={now.state} data-stale={stale} />
      {stale ? `last known: ${now.word}` : now.word}
      {now.reason && <small>{now.reason}</small>}
    </span>
  );
}

function Grid({ session }: { session: Session }) {
  const foreign = currentView.value?.foreignSize.value;
  return (
    <span class="grid" title={foreign ? "another window set the size" : "columns × rows"}>
      {session.cols}×{session.rows}
    </span>
  );
}

function describeFolder(session: Session): string {
  if (session.mode !== TRUSTED_MODE) return session.workingDir;
  return `${session.workingDir}: ${cliOf(session.mode)?.label ?? session.mode} trusts this folder`;
}

/** What there is to say where a page stands in the place of the terminals. */
function Overview() {
  const [blocked, done] = [sessionsNeedingPerson.value.size, finishedSessions.value.size];
  return (
    <footer class="statusbar" data-testid="overview">
      <span>{plural(sessions.value.length, "session")}</span>
      {blocked > 0 && (
        <span class="state">
          <span class="dot" data-state="attention" />
          {blocked === 1 ? "1 needs you" : `${blocked} need you`}
        </span>
      )}
      {done > 0 && (
        <span class="state">
          <span class="dot" data-state="done" />
          {done} done
        </span>
      )}
    </footer>
  );
}

export function StatusBar() {
  const session = activeSession.value;
  if (!session) return null;
  if (covered.value) return <Overview />;
  return (
    <footer class="statusbar">
      <State session={session} />
      <LocationMarkSlot session={session} />
      <span class="where" data-tip={describeFolder(session)} data-testid="where">
        <Icon name="folder" size={14} />
        <bdi>{session.workingDir}</bdi>
      </span>
      <GitChip session={session} />
      <Servers session={session} />
      <span class="spring" />
      {updateNotice.value !== "" && <span data-testid="update-notice">{updateNotice.value}</span>}
      <SessionChips session={session} />
      <span class="agent">{cliOf(session.mode)?.label ?? session.mode}</span>
      <Grid session={session} />
    </footer>
  );
}
