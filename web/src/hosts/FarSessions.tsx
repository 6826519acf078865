/** The tmux sessions of a host's user, which somebody else has made. */
import { useState } from "preact/hooks";
import { sentenceOf } from "../api/errors.ts";
import type { RemoteHost, TmuxSession } from "../api/types.ts";
import { openPage } from "../app/registry.ts";
import { agoText } from "../lib/ago.ts";
import { select } from "../sessions/actions.ts";
import { keep, sessions } from "../store/state.ts";
import { Problem } from "../ui/Problem.tsx";
import { useNow } from "../ui/useNow.ts";
import { attachFarSession, listFarSessions } from "./calls.ts";
import { clientsText } from "./words.ts";

function useFarSessions(hostId: string) {
  const [all, setAll] = useState<readonly TmuxSession[]>();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const attempt = async (act: () => Promise<void>) => {
    setBusy(true);
    setProblem("");
    await act().catch((error: unknown) => setProblem(sentenceOf(error)));
    setBusy(false);
  };
  const look = () => attempt(async () => setAll((await listFarSessions(hostId)).sessions));
  const attach = (name: string) =>
    attempt(async () => {
      const { session } = await attachFarSession(hostId, name);
      keep(session);
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
    <li data-testid="far-session">
      <span class="far-session-text">
        <bdi>{each.name}</bdi>
        <small>
          {clientsText(each)}
          {each.created !== undefined && ` · begun ${agoText(each.created, now)}`}
        </small>
      </span>
      <button
        type="button"
        class="button small"
        disabled={busy}
        aria-label={`${shown === undefined ? "Attach" : "Show"} ${each.name}`}
        onClick={shown === undefined ? onAttach : show}
        data-testid="far-attach"
      >
        {shown === undefined ? "Attach" : "Show"}
      </button>
    </li>
  );
}

export function FarSessions({ host }: { host: RemoteHost }) {
  const { all, busy, problem, look, attach } = useFarSessions(host.id);
  const shownAs = (name: string) =>
    sessions.value.find(({ remote }) => remote?.hostId === host.id && !remote.owned && remote.name === name)
      ?.id;
  return (
    <div class="far-sessions" aria-busy={busy}>
      <button
        type="button"
        class="button small"
        aria-label={`Look for tmux sessions on ${host.label}`}
        disabled={busy}
        onClick={() => void look()}
        data-testid="far-sessions"
      >
        {busy ? "Looking…" : all === undefined ? "tmux sessions there" : "Look again"}
      </button>
      <Problem text={problem} testid="far-sessions-problem" />
      {all?.length === 0 && <p class="dim">No tmux session of this user runs there.</p>}
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
          <small>Attached, they are shown here and stay what they are: closing only detaches.</small>
        </>
      )}
    </div>
  );
}
