/** The container of a case: how it stands, what it uses of its limits, and making it anew. */
import { useEffect, useState } from "preact/hooks";
import { ApiError, sentenceOf } from "../api/errors.ts";
import type { ContainerResponse } from "../api/types.ts";
import { agoText } from "../lib/ago.ts";
import { ask } from "../ui/ask.ts";
import { Icon } from "../ui/Icon.tsx";
import { Problem } from "../ui/Problem.tsx";
import { useNow } from "../ui/useNow.ts";
import "./box.css";
import { readContainer, recreateContainer } from "./calls.ts";
import { type Figure, figuresOf, stateOf } from "./words.ts";

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
      const found = await readContainer(caseName);
      if (!alive() || (known && known.name !== found.name)) return;
      setBox(found);
      setOwn(true);
      setProblem("");
    } catch (error) {
      const foreign = known !== undefined && error instanceof ApiError && error.status === 404;
      if (alive() && !foreign) setProblem(sentenceOf(error));
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
      setBox(await recreateContainer(caseName));
    } catch (error) {
      setProblem(sentenceOf(error));
    }
    setBusy(false);
  };
  return { box, own, busy, problem, recreate };
}

function Bar({ name, text, share }: Figure) {
  return (
    <div class="box-figure">
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
  const answer = await ask({
    title: `Make the container of ${box.caseName} anew?`,
    text: `A new one is made from ${box.image}. What was installed or changed in the old one is gone; the case’s folder and the container’s home folder stay.`,
    action: "Make it anew",
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
  const state = stateOf(box);
  return (
    <>
      <p class="box-title">
        <span class="tag" data-tone={state.tone} data-testid="box-state">
          {state.word}
        </span>
        <small>
          {box.image} · network {box.network}
          {box.created !== null && ` · made ${agoText(box.created, now)}`}
        </small>
      </p>
      {state.text !== undefined && <p class="box-text">{state.text}</p>}
      {box.warnings?.map((warning) => (
        <p key={warning} class="box-text box-warning" data-testid="box-warning">
          <Icon name="alert" size={14} /> {warning}
        </p>
      ))}
      <dl class="box-figures">
        {figuresOf(box.limits, box.usage).map((figure) => (
          <Bar key={figure.name} {...figure} />
        ))}
      </dl>
      <button
        type="button"
        class="button small"
        aria-label={`Make the container of ${box.caseName} anew`}
        disabled={busy || !own}
        onClick={onRecreate}
        data-testid="box-recreate"
      >
        {busy ? "Making it…" : "Make it anew"}
      </button>
    </>
  );
}

export function Box({ caseName, known }: { caseName: string; known?: ContainerResponse }) {
  const { box, own, busy, problem, recreate } = useBox(caseName, known);
  const ask = async () => {
    if (box && (await agreed(box))) await recreate();
  };
  return (
    <div class="box" data-testid="box" data-case={caseName}>
      {box ? (
        <Shown box={box} own={own} busy={busy} onRecreate={() => void ask()} />
      ) : (
        problem === "" && <p>Reading…</p>
      )}
      <Problem text={problem} testid="box-problem" />
    </div>
  );
}
