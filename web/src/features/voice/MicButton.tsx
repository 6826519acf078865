/** Tap to talk and tap again, or hold while talking. */
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../../ui/Icon.tsx";
import { cancelDictation, dictation, finishDictation, type Stage, startDictation } from "./state.ts";
import "./voice.css";

/** A press of at least so long ends when it is let go. */
const HOLD_MS = 400;

const LABELS: Record<Stage | "idle", string> = {
  idle: "Dictate (tap, or hold while you talk)",
  starting: "Starting the microphone…",
  listening: "Listening. Tap to stop.",
  finishing: "Finishing…",
};

const caretOf = (): number => document.querySelector<HTMLTextAreaElement>("#prompt-field")?.selectionEnd ?? 0;

export function MicButton({ id }: { id: string }) {
  const stage = dictation.value?.id === id ? dictation.value.stage : "idle";
  /** When it was pressed, where that began a dictation. */
  const pressed = useRef<number | undefined>(undefined);
  useEffect(
    () => () => {
      if (dictation.peek()?.id === id) cancelDictation();
    },
    [id],
  );
  const toggle = () => void (stage === "idle" ? startDictation(id, caretOf()) : finishDictation());
  const press = (event: PointerEvent) => {
    if (event.button !== 0) return;
    // The field keeps its focus and its caret.
    event.preventDefault();
    pressed.current = stage === "idle" ? event.timeStamp : undefined;
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    toggle();
  };
  const lift = (event: PointerEvent) => {
    const since = pressed.current;
    pressed.current = undefined;
    if (since !== undefined && event.timeStamp - since >= HOLD_MS) void finishDictation();
  };
  const key = (event: KeyboardEvent) => {
    if (event.key === "Escape" && stage !== "idle") cancelDictation();
  };
  return (
    <button
      type="button"
      class="prompt-mic"
      data-stage={stage}
      aria-pressed={stage !== "idle"}
      aria-label={LABELS[stage]}
      title={LABELS[stage]}
      onPointerDown={press}
      onPointerUp={lift}
      onPointerCancel={lift}
      onClick={(event) => event.detail === 0 && toggle()}
      onContextMenu={(event) => event.preventDefault()}
      onKeyDown={key}
      data-testid="mic"
    >
      <Icon name="mic" />
    </button>
  );
}
