/** The place of the microphone; its code comes where dictation is on. */
import { settings } from "../../store/state.ts";
import { showError } from "../../store/toasts.ts";
import { lazySlot } from "../../ui/lazySlot.tsx";

const MicButton = lazySlot(async () => (await import("./MicButton.tsx")).MicButton, {
  failed: (error) => showError("Couldn't load dictation", error),
});

export function VoiceHost({ id }: { id: string }) {
  return settings.value.primaryVoiceEnabled === true ? <MicButton key={id} id={id} /> : null;
}
