/** What the parts of a conversation share. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Conversation } from "./source.ts";

export interface Surroundings {
  conversation: Conversation;
  /** Of which its links to files are; absent for one that is only stored. */
  sessionId: string | undefined;
  agent: string;
  /** The folder that it works in: titles leave it out. */
  folder: string | undefined;
}

const Around = createContext<Surroundings | undefined>(undefined);

export const SurroundingsProvider = Around.Provider;

export function useSurroundings(): Surroundings {
  const found = useContext(Around);
  if (!found) throw new Error("an item stands outside of its conversation");
  return found;
}
