/** The place of the conversation over the terminal or beside it; its code comes when it is first shown. */
import { activeSession } from "../../store/state.ts";
import { lazySlot } from "../../ui/lazySlot.tsx";
import { view } from "./choice.ts";

const waiting = (problem: string) => (
  <p class="talk-waiting" role={problem === "" ? "status" : "alert"}>
    {problem === "" ? "Loading…" : problem}
  </p>
);

const SessionConversation = lazySlot(
  async () => (await import("./SessionConversation.tsx")).SessionConversation,
  { waiting },
);

export function ConversationHost() {
  const session = activeSession.value;
  if (!session || view.value === "terminal") return null;
  return <SessionConversation key={session.id} id={session.id} />;
}
