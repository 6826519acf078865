/** The place of the microphone; its code comes where dictation is on. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { settings } from "../../store/state.ts";
import { showError } from "../../store/toasts.ts";

export function VoiceHost({ id }: { id: string }) {
  const wanted = settings.value.primaryVoiceEnabled === true;
  const [Button, setButton] = useState<ComponentType<{ id: string }>>();
  useEffect(() => {
    if (!wanted || Button) return;
    import("./MicButton.tsx").then(
      ({ MicButton }) => setButton(() => MicButton),
      (error: unknown) => showError("Couldn't load dictation", error),
    );
  }, [wanted]);
  return wanted && Button ? <Button key={id} id={id} /> : null;
}
