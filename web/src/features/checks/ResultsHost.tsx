/** The results of a session's checks; the code comes when they are opened first. */
import { showError } from "../../store/toasts.ts";
import { sessionList } from "../../store/state.ts";
import { lazySlot } from "../../ui/lazySlot.tsx";
import { openResults } from "./state.ts";

const Results = lazySlot(async () => (await import("./Results.tsx")).Results, {
  failed: (error) => {
    openResults.value = undefined;
    showError("Couldn't open the checks", error);
  },
});

export function ResultsHost() {
  const session = sessionList.value.byId.get(openResults.value ?? "");
  return session ? <Results key={session.id} session={session} /> : null;
}
