/** Fields that show what is kept, and are saved when they are left. */
import { useState } from "preact/hooks";

export interface Typed {
  value: string;
  onInput: (event: { currentTarget: { value: string } }) => void;
  /** Show what is kept again. */
  settle: () => void;
}

/** What is being typed stays, whatever the page shows anew meanwhile. */
export function useTyped(kept: string): Typed {
  const [typed, setTyped] = useState<string>();
  return {
    value: typed ?? kept,
    onInput: (event) => setTyped(event.currentTarget.value),
    settle: () => setTyped(undefined),
  };
}
