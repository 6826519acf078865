/** The button that changes between the terminal of a session and its conversation. */
import { activeSession } from "../../store/state.ts";
import { IconButton } from "../../ui/IconButton.tsx";
import { type MenuItem, menuUnder } from "../../ui/menu.ts";
import { wide } from "../../ui/width.ts";
import { gridOn } from "../grid/state.ts";
import { chosenView, hasRecord, type View, view } from "./choice.ts";

const NAMES: Record<View, string> = {
  terminal: "Terminal",
  conversation: "Conversation",
  both: "Side by side",
};

const items = (): MenuItem[] =>
  (Object.keys(NAMES) as View[]).map((each) => ({
    label: NAMES[each],
    checked: view.peek() === each,
    act: () => (chosenView.value = each),
  }));

export function ViewSwitch() {
  const session = activeSession.value;
  if (!session || !hasRecord(session) || gridOn.value) return null;
  const now = view.value;
  const change = (event: MouseEvent) => {
    if (wide.value) menuUnder("Show", items(), event.currentTarget as Element);
    else chosenView.value = now === "terminal" ? "conversation" : "terminal";
  };
  return (
    <IconButton
      icon={now === "terminal" || wide.value ? "chat" : "screen"}
      label={
        wide.value ? "Terminal or conversation" : now === "terminal" ? "Show conversation" : "Show terminal"
      }
      pressed={now !== "terminal"}
      onClick={change}
      testid="view-switch"
    />
  );
}
