/** The page's commands in words, for the help and for the palette. */
import type { IconName } from "../../ui/Icon.tsx";
import { type Action, formatShortcut, SHORTCUTS } from "./table.ts";

type Group = "Sessions" | "Terminal" | "Inbox and fleet" | "Page";

export interface CommandText {
  text: string;
  group: Group;
  icon?: IconName;
}

export const COMMANDS: Readonly<Record<Action, CommandText>> = {
  new: { text: "New session", group: "Sessions", icon: "plus" },
  goto: { text: "Go to session 1 to 9 (hold Alt to see the numbers)", group: "Sessions" },
  "next-blocked": { text: "Go to the next agent that needs you", group: "Sessions", icon: "bell" },
  previous: { text: "Previous session", group: "Sessions", icon: "up" },
  next: { text: "Next session", group: "Sessions", icon: "down" },
  rename: { text: "Rename session (F2 on its tab or row)", group: "Sessions" },
  close: { text: "Close session (Delete on its tab or row)", group: "Sessions" },
  tabs: { text: "Focus the session list (Enter returns)", group: "Sessions", icon: "menu" },
  prompt: { text: "Focus the prompt box, or return to the terminal", group: "Sessions", icon: "keyboard" },
  cells: { text: "Show 1, 2, 3, 4, 6 or 9 terminals", group: "Sessions" },
  cell: { text: "Focus the terminal to the left, right, above or below", group: "Sessions" },
  "maximise-cell": { text: "Maximize or restore this terminal", group: "Sessions" },
  "close-cell": { text: "Close this cell (the session keeps running)", group: "Sessions" },
  search: { text: "Search the terminal", group: "Terminal", icon: "search" },
  history: { text: "Full history", group: "Terminal", icon: "history" },
  quote: {
    text: "Send the next key to the program (W alone sends Ctrl+W)",
    group: "Terminal",
    icon: "keyboard",
  },
  "zoom-in": { text: "Larger text", group: "Terminal", icon: "plus" },
  "zoom-out": { text: "Smaller text", group: "Terminal", icon: "shrink" },
  "zoom-reset": { text: "Normal text size", group: "Terminal", icon: "lines" },
  palette: { text: "Find a session, a page or a command (Ctrl+K outside a terminal, ⌘K)", group: "Page" },
  fleet: { text: "Open Fleet", group: "Page" },
  approvals: { text: "Open inbox", group: "Page" },
  changes: { text: "Show changes", group: "Page" },
  review: { text: "Review changes", group: "Page" },
  cron: { text: "Open scheduled jobs", group: "Page" },
  panel: { text: "Toggle panel", group: "Page", icon: "panel" },
  sidebar: { text: "Toggle sidebar", group: "Page", icon: "menu" },
  settings: { text: "Open settings", group: "Page" },
  help: { text: "Show keyboard shortcuts (also ? outside a terminal)", group: "Page" },
};

/** Keys of what has the focus: the terminal, a list of cards, a tab. */
const ELSEWHERE: readonly [group: Group, keys: string, text: string][] = [
  ["Sessions", "Ctrl+Shift+← →", "Move the focused tab"],
  ["Terminal", "Ctrl+Shift+C", "Copy selection"],
  ["Terminal", "Ctrl+Shift+V", "Paste"],
  ["Inbox and fleet", "J K", "Next or previous card"],
  ["Inbox and fleet", "1 … 9", "Pick an option of the focused card"],
  ["Inbox and fleet", "W", "Say no to the focused card, with a reason"],
  ["Inbox and fleet", "E", "Dismiss the focused card"],
  ["Inbox and fleet", "U", "Undo that while the card is there"],
];

const GROUPS: readonly Group[] = ["Sessions", "Inbox and fleet", "Terminal", "Page"];

/** @returns each group with its keys and what they do. */
export function listHelp(): [Group, [keys: string, text: string][]][] {
  const rows: [Group, string, string][] = [
    ...SHORTCUTS.map((shortcut): [Group, string, string] => {
      const { group, text } = COMMANDS[shortcut.action];
      return [group, formatShortcut(shortcut), text];
    }),
    ...ELSEWHERE,
  ];
  return GROUPS.map((name) => [
    name,
    rows.filter(([group]) => group === name).map(([, keys, text]) => [keys, text]),
  ]);
}
