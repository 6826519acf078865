/** The terminal's own menu. */
import { chooseFiles } from "../attach/attach.ts";
import { copyText } from "../../ui/clipboard.ts";
import { askQuestion } from "../../ui/ask.ts";
import type { MenuItem } from "../../ui/menu.ts";
import { historyOpen, searchOpen } from "../../ui/pages/openpanels.ts";
import { hasConversationView, openConversation } from "../conversation/fromterminal.ts";
import { focusPrompt } from "../prompt/focus.ts";
import type { TerminalView } from "./view.ts";

/** The screen as plain text, for devices on which a grid cannot be selected by finger. */
async function showText(view: TerminalView): Promise<void> {
  const text = view.text();
  const answer = await askQuestion({
    title: "Terminal text",
    text: "Select a part or copy everything.",
    preview: text,
    action: "Copy all",
  });
  if (answer !== undefined) await copyText(text);
}

export function terminalItems(view: TerminalView): MenuItem[] {
  const selected = view.clipping.selection !== "";
  return [
    {
      label: "Copy",
      icon: "copy",
      keys: "Ctrl+Shift+C",
      disabled: !selected,
      act: () => void view.clipping.copy(),
    },
    {
      label: "Paste",
      icon: "paste",
      keys: "Ctrl+Shift+V",
      act: () => void view.clipping.pasteFromClipboard(),
    },
    { label: "Attach a file", icon: "up", act: () => chooseFiles(view.sessionId, focusPrompt) },
    { label: "Select all", act: () => view.screen.terminal.selectAll() },
    { label: "Show as text", icon: "lines", act: () => void showText(view) },
    {
      label: "Search",
      icon: "search",
      keys: "Ctrl+Shift+F",
      act: () => (searchOpen.value = true),
      group: true,
    },
    {
      label: "Full history",
      icon: "history",
      keys: "Alt+Shift+H",
      act: () => (historyOpen.value = { sessionId: view.sessionId, query: "" }),
    },
    ...(hasConversationView(view.sessionId)
      ? [
          {
            label: "Show in the conversation",
            icon: "chat",
            act: () => void openConversation(view.sessionId, view.screen.terminal),
          } as const,
        ]
      : []),
    {
      label: "Resize to this window",
      act: () => view.forceSize(),
      disabled: view.foreignSize.value === undefined,
      group: true,
    },
  ];
}
