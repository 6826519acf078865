/** Fields that show what is kept, and are saved when they are left. */
import { useState } from "preact/hooks";

export interface DraftText {
  value: string;
  onInput: (event: { currentTarget: { value: string } }) => void;
  /** Show what is kept again. */
  settle: () => void;
}

/** What is being typed stays, whatever the page shows anew meanwhile. */
export function useDraftText(kept: string): DraftText {
  const [typed, setTyped] = useState<string>();
  return {
    value: typed ?? kept,
    onInput: (event) => setTyped(event.currentTarget.value),
    settle: () => setTyped(undefined),
  };
}
