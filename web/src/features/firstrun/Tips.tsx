/** The three things that somebody with more than one agent needs. */
import { coarse } from "../touch/state.ts";

const TIPS = [
  ["Inbox", "Alt+Shift+A", "Agents ask before they act. All questions wait behind the bell, with buttons."],
  ["Palette", "Ctrl+Shift+K", "Finds any session, page or command by a few letters."],
  ["Grid", "Alt+Shift+2", "Shows two, four or nine terminals side by side, those that need you first."],
] as const;

export function Tips() {
  return (
    <ul class="tips" aria-label="Tips">
      {TIPS.map(([title, keys, text]) => (
        <li key={title}>
          <strong>
            {title} {!coarse.value && <kbd>{keys}</kbd>}
          </strong>
          <span>{text}</span>
        </li>
      ))}
    </ul>
  );
}
