/** The container of a case: how it stands, what it uses of its limits, and making it anew. */
import { Button } from "../../ui/Button.tsx";
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { ApiError, formatError } from "../../api/errors.ts";
import type { ContainerResponse } from "../../api/types.ts";
import { formatAgo } from "../../lib/ago.ts";
import { askQuestion } from "../../ui/ask.ts";
import { Icon } from "../../ui/Icon.tsx";
import { Problem } from "../../ui/Problem.tsx";
import { useNow } from "../../ui/useNow.ts";
import "./containercard.css";
import { type Figure, listFigures, describeContainerState } from "./texts.ts";

const CONTAINER = "/api/cases/{name}/container";

/** An engine takes a second to say what a container uses. */
const LOOK_MS = 10_000;

/** @param known what was read with the others of its host; absent: it is read now. */
function useBox(caseName: string, known: ContainerResponse | undefined) {
  const [box, setBox] = useState(known);
  // Another account may have a case of the same name: only one's own answers by it.
  const [own, setOwn] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const look = async (alive: () => boolean = () => true) => {
    try {
      const found = await api.get(CONTAINER, { path: { name: caseName } });
      if (!alive() || (known && known.name !== found.name)) return;
      setBox(found);
      setOwn(true);
      setProblem("");
    } catch (error) {
      const foreign = known !== undefined && error instanceof ApiError && error.status === 404;
      if (alive() && !foreign) setProblem(formatError(error));
    }
  };
  useEffect(() => {
    let [alive, asking] = [true, false];
    const again = async () => {
      if (asking || document.hidden) return;
      asking = true;
      await look(() => alive);
      asking = false;
    };
    void again();
    const timer = setInterval(() => void again(), LOOK_MS);
    return () => {
      alive = false;
      clearInterval(timer);
    };
  }, [caseName]);
  const recreate = async () => {
    setBusy(true);
    setProblem("");
    try {
      setBox(await api.post(`${CONTAINER}/recreate`, { path: { name: caseName } }));
    } catch (error) {
      setProblem(formatError(error));
    }
    setBusy(false);
  };
  return { box, own, busy, problem, recreate };
}

function Bar({ name, text, share }: Figure) {
  return (
    <div class="container-figure">
      <dt>{name}</dt>
      <dd>
        {text}
        {share !== undefined && (
          <span
            class="meter"
            data-level={share >= 95 ? "red" : share >= 80 ? "amber" : undefined}
            aria-hidden="true"
          >
            <i style={{ width: `${share}%` }} />
          </span>
        )}
      </dd>
    </div>
  );
}

async function agreed(box: ContainerResponse): Promise<boolean> {
  const answer = await askQuestion({
    title: `Recreate the container of ${box.caseName}?`,
    text: `This creates a new container from ${box.image}. Anything installed or changed in the old one is lost. The workspace folder and the container's home folder stay.`,
    action: "Recreate",
    danger: true,
  });
  return answer !== undefined;
}

interface ShownProps {
  box: ContainerResponse;
  own: boolean;
  busy: boolean;
  onRecreate: () => void;
}

function Shown({ box, own, busy, onRecreate }: ShownProps) {
  const now = useNow();
  const state = describeContainerState(box);
  return (
    <>
      <p class="container-title">
        <span class="tag" data-tone={state.tone} data-testid="container-state">
          {state.word}
        </span>
        <small>
          {box.image} · network {box.network}
          {box.created !== null && ` · created ${formatAgo(box.created, now)}`}
        </small>
      </p>
      {state.text !== undefined && <p class="container-text">{state.text}</p>}
      {box.warnings?.map((warning) => (
        <p key={warning} class="container-text container-warning" data-testid="container-warning">
          <Icon name="alert" size={14} /> <span>{warning}</span>
        </p>
      ))}
      <dl class="container-figures">
        {listFigures(box.limits, box.usage).map((figure) => (
          <Bar key={figure.name} {...figure} />
        ))}
      </dl>
      <Button
        small
        label={`Recreate the container of ${box.caseName}`}
        disabled={busy || !own}
        onClick={onRecreate}
        testid="container-recreate"
      >
        {busy ? "Recreating…" : "Recreate"}
      </Button>
    </>
  );
}

export function ContainerCard({ caseName, known }: { caseName: string; known?: ContainerResponse }) {
  const { box, own, busy, problem, recreate } = useBox(caseName, known);
  const ask = async () => {
    if (box && (await agreed(box))) await recreate();
  };
  return (
    <div class="container-card" data-testid="container" data-case={caseName}>
      {box ? (
        <Shown box={box} own={own} busy={busy} onRecreate={() => void ask()} />
      ) : (
        problem === "" && <p>Loading…</p>
      )}
      <Problem text={problem} testid="container-problem" />
    </div>
  );
}
