/** The place of the list of files; its code comes with the first `@`. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { showError } from "../../store/toasts.ts";
import { type Mention, mention } from "./mention.ts";

interface Props {
  id: string;
  onChoose: (mention: Mention, path: string) => void;
}

export function MentionHost({ id, onChoose }: Props) {
  const open = mention.value?.sessionId === id ? mention.value : undefined;
  const wanted = open !== undefined;
  const [List, setList] = useState<ComponentType<{ open: Mention; onChoose: Props["onChoose"] }>>();
  useEffect(() => {
    if (!wanted || List) return;
    import("./Mentions.tsx").then(
      ({ Mentions }) => setList(() => Mentions),
      (error: unknown) => showError("Couldn't load file suggestions", error),
    );
  }, [wanted]);
  return open && List ? <List open={open} onChoose={onChoose} /> : null;
}
