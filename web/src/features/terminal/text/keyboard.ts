/** One terminal's keys on their way to the program. */
import type { Terminal } from "@xterm/xterm";
import { cliOf, sessions } from "../../../store/state.ts";
import { encodeKey, KeyModes } from "./encode.ts";
import { platformOf } from "./keys.ts";

type Layout = ReadonlyMap<string, string>;

/** What the keyboard's layout writes without modifiers, where the browser tells. */
let layout: Layout | undefined;

export class Keyboard {
  private readonly modes = new KeyModes();
  private readonly terminal: Terminal;
  private readonly newline: () => string | undefined;

  constructor(terminal: Terminal, newline: () => string | undefined) {
    this.terminal = terminal;
    this.newline = newline;
    this.modes.follow(terminal);
    const { keyboard } = navigator as { keyboard?: { getLayoutMap?: () => Promise<Layout> } };
    const told = keyboard?.getLayoutMap?.();
    // Refused inside another page's frame.
    told?.then((map) => (layout = map)).catch(() => (layout = undefined));
  }

  /** @returns whether the emulator encodes the key. */
  pressed(event: KeyboardEvent, quoted = false): boolean {
    if (event.type !== "keydown") return true;
    const { kitty, others } = this.modes;
    const alternate = this.terminal.buffer.active.type === "alternate";
    const mac = platformOf(navigator.userAgent) === "mac";
    const asked = { kitty, others, alternate, mac, newline: this.newline(), quoted };
    const data = encodeKey(event, asked, (code) => layout?.get(code));
    if (!data) return data === undefined;
    event.preventDefault();
    event.stopPropagation();
    // As the emulator does, so that a screen reader hears of the new line.
    if (this.terminal.textarea && /^[\r\x03]$/.test(data)) this.terminal.textarea.value = "";
    this.terminal.input(data, true);
    return false;
  }
}

/** What the agent of a session takes for a new line; undefined for shells. */
export function newlineOf(sessionId: string): string | undefined {
  const mode = sessions.peek().find(({ id }) => id === sessionId)?.mode ?? "shell";
  const entry = cliOf(mode);
  // Only admins are told the entries.
  return entry || mode === "shell" ? entry?.newline : "\x1b[13;2u";
}
