import type { Session } from "../../api/types.ts";
import { cliOf } from "../../store/state.ts";

/** A mode that the page cannot look up is an agent unless it is the plain shell. */
export const isAgent = (session: Session): boolean =>
  (cliOf(session.mode)?.kind ?? (session.mode === "shell" ? "shell" : "agent")) === "agent";
