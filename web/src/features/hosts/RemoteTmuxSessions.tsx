/** The tmux sessions of a host's user, which somebody else has made. */
import { Button } from "../../ui/Button.tsx";
import { useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { formatError } from "../../api/errors.ts";
import type { RemoteHost, TmuxSession } from "../../api/types.ts";
import { openPage } from "../../ui/pages/registry.ts";
import { formatAgo } from "../../lib/ago.ts";
import { select } from "../../ui/pages/select.ts";
import { putSession, sessions } from "../../store/state.ts";
import { Problem } from "../../ui/Problem.tsx";
import { useNow } from "../../ui/useNow.ts";
import { createSession } from "../../api/calls.ts";
import { truncateText } from "../../lib/format.ts";
import { describeTmuxSession } from "./texts.ts";

/** Characters of a session's name. */
const NAME_MAX = 128;

function useRemoteTmuxSessions(hostId: string) {
  const [all, setAll] = useState<readonly TmuxSession[]>();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const attempt = async (act: () => Promise<void>) => {
    setBusy(true);
    setProblem("");
    await act().catch((error: unknown) => setProblem(formatError(error)));
    setBusy(false);
  };
  const look = () =>
    attempt(async () =>
      setAll((await api.get("/api/remote-hosts/{id}/sessions", { path: { id: hostId } })).sessions),
    );
  const attach = (remoteSessionName: string) =>
    attempt(async () => {
      const attachRemoteSession = { hostId, remoteSessionName };
      const name = truncateText(remoteSessionName, NAME_MAX);
      const answer = await createSession({ attachRemoteSession, name, start: true });
      // Only a session with a custom model is asked about first.
      if (!("session" in answer)) return;
      const { session } = answer;
      putSession(session);
      select(session.id);
      openPage.value = undefined;
    });
  return { all, busy, problem, look, attach };
}

interface RowProps {
  each: TmuxSession;
  /** Of the session here that shows it already. */
  shown: string | undefined;
  busy: boolean;
  onAttach: () => void;
}

function Row({ each, shown, busy, onAttach }: RowProps) {
  const now = useNow();
  const show = () => {
    select(shown);
    openPage.value = undefined;
  };
  return (
    <li data-testid="tmux-session">
      <span class="tmux-session-text">
        <bdi>{each.name}</bdi>
        <small>
          {describeTmuxSession(each)}
          {each.created !== undefined && ` · created ${formatAgo(each.created, now)}`}
        </small>
      </span>
      <Button
        small
        disabled={busy}
        label={`${shown === undefined ? "Attach" : "Show"} ${each.name}`}
        onClick={shown === undefined ? onAttach : show}
        testid="tmux-attach"
      >
        {shown === undefined ? "Attach" : "Show"}
      </Button>
    </li>
  );
}

export function RemoteTmuxSessions({ host }: { host: RemoteHost }) {
  const { all, busy, problem, look, attach } = useRemoteTmuxSessions(host.id);
  const shownAs = (name: string) =>
    sessions.value.find(({ remote }) => remote?.hostId === host.id && !remote.owned && remote.name === name)
      ?.id;
  return (
    <div class="tmux-sessions" aria-busy={busy}>
      <Button
        small
        label={`${all === undefined ? "List tmux sessions" : "Refresh list: tmux sessions"} on ${host.label}`}
        disabled={busy}
        onClick={() => void look()}
        testid="tmux-sessions"
      >
        {busy ? "Loading…" : all === undefined ? "List tmux sessions" : "Refresh list"}
      </Button>
      <Problem text={problem} testid="tmux-sessions-problem" />
      {all?.length === 0 && <p class="dim">This user has no tmux sessions on the host.</p>}
      {all !== undefined && all.length > 0 && (
        <>
          <ul aria-label={`tmux sessions on ${host.label}`}>
            {all.map((each) => (
              <Row
                key={each.name}
                each={each}
                shown={shownAs(each.name)}
                busy={busy}
                onAttach={() => void attach(each.name)}
              />
            ))}
          </ul>
          <small>Attaching shows a session here without changing it. Closing it here only detaches.</small>
        </>
      )}
    </div>
  );
}
