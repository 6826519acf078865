/** The place of the list of files; its code comes with the first `@`. */
import { showError } from "../../store/toasts.ts";
import { lazySlot } from "../../ui/lazySlot.tsx";
import { type Mention, mention } from "./mention.ts";

interface Props {
  id: string;
  onChoose: (mention: Mention, path: string) => void;
}

const Mentions = lazySlot(async () => (await import("./Mentions.tsx")).Mentions, {
  failed: (error) => showError("Couldn't load file suggestions", error),
});

export function MentionHost({ id, onChoose }: Props) {
  const open = mention.value;
  return open?.sessionId === id ? <Mentions open={open} onChoose={onChoose} /> : null;
}
