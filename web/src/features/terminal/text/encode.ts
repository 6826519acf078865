/** What a key sends where the emulator goes by the key's place, or does not know what was asked for. */
import type { Terminal } from "@xterm/xterm";
import { controlOf } from "../../touch/modifiers.ts";

export interface Asked {
  /** The program asked for the kitty protocol's unambiguous keys. */
  kitty: boolean;
  /** The program asked for keys that have no code of their own (modifyOtherKeys). */
  others: boolean;
  alternate: boolean;
  mac: boolean;
  /** What an agent takes for a new line, whatever it asked for. */
  newline?: string | undefined;
  /** Sent in any case; a key that is pressed alone with Control. */
  quoted?: boolean;
}

/** The number and the final byte of CSI. */
const FUNCTIONAL = new Map(
  `ArrowUp=1A ArrowDown=1B ArrowRight=1C ArrowLeft=1D Home=1H End=1F Insert=2~ Delete=3~ PageUp=5~ PageDown=6~
   F1=1P F2=1Q F3=1R F4=1S F5=15~ F6=17~ F7=18~ F8=19~ F9=20~ F10=21~ F11=23~ F12=24~`
    .split(/\s+/)
    .map((each) => each.split("=") as [string, string]),
);
const TEXTUAL: Partial<Record<string, number>> = { Enter: 13, Tab: 9, Escape: 27, Backspace: 127 };
const [SHIFT, ALT, CONTROL] = [1, 2, 4] as const;

const point = (text: string): number => text.codePointAt(0) ?? 0;

function functional(name: string, code: string, held: number, asked: Asked): string | undefined {
  const pages = name.startsWith("Page") && held === SHIFT && !asked.alternate;
  if ((pages && !asked.quoted) || (held === 0 && !asked.kitty)) return undefined;
  // The browser copies and pastes by it.
  if (name === "Insert" && (held === SHIFT || held === CONTROL) && !asked.quoted) return "";
  // F3 as R could be the caret's place.
  const sent = asked.kitty && name === "F3" ? "13~" : code;
  const number = sent.slice(0, -1);
  return `\x1b[${held ? `${number};${held + 1}` : number === "1" ? "" : number}${sent.slice(-1)}`;
}

function textual(number: number, held: number, asked: Asked): string | undefined {
  const sequence = `\x1b[${number}${held ? `;${held + 1}` : ""}u`;
  if (asked.kitty && (held || number === 27)) return sequence;
  if (held === 0) return undefined;
  const backTab = number === 9 && held & SHIFT;
  const known = held === ALT || (backTab && held === SHIFT) || (number === 127 && held === CONTROL);
  if (asked.others && !known) return sequence;
  if (number === 13 && held === SHIFT && asked.newline) return asked.newline;
  const plain = number === 127 && held & CONTROL ? "\b" : String.fromCharCode(number);
  return (held & ALT ? "\x1b" : "") + (backTab ? "\x1b[Z" : plain);
}

/** @param char what the layout writes. @param base the same without modifiers. */
function written(char: string, base: string, held: number, asked: Asked): string {
  if (asked.kitty) return `\x1b[${point(base)};${held + 1}u`;
  const alt = held & ALT ? "\x1b" : "";
  if (!(held & CONTROL)) return alt + char;
  const isCapital = held & SHIFT && /[A-Z]/.test(char);
  const control = controlOf(char);
  if (control !== char && (!isCapital || (asked.quoted && !asked.others))) return alt + control;
  return asked.others ? `\x1b[${point(isCapital ? char : char.toLowerCase())};${held + 1}u` : "";
}

/** Undefined: the emulator encodes it. Empty: nothing is sent, the browser may have the key. */
export function encodeKey(
  key: KeyboardEvent,
  asked: Asked,
  base: (code: string) => string | undefined = () => undefined,
): string | undefined {
  if (key.metaKey || key.isComposing || key.keyCode === 229) return undefined;
  let held = (key.shiftKey ? SHIFT : 0) | (key.altKey ? ALT : 0) | (key.ctrlKey ? CONTROL : 0);
  const isText = [...key.key].length === 1;
  const alone = held === 0 || (held === SHIFT && (isText || key.key === "Tab"));
  if (asked.quoted && alone && !/^F\d/.test(key.key)) held |= CONTROL;
  const place = FUNCTIONAL.get(key.key);
  if (place) return functional(key.key, place, held, asked);
  const number = TEXTUAL[key.key];
  if (number !== undefined) return textual(number, held, asked);
  if (!isText || key.getModifierState("AltGraph") || held <= SHIFT || (asked.mac && held & ALT))
    return undefined;
  // A script without Latin letters has those of the same keys.
  const isLatin = point(key.key) < 0x80 || key.keyCode < 65 || key.keyCode > 90;
  const latin = isLatin ? key.key : String.fromCharCode(key.keyCode);
  const char = isLatin || held & SHIFT ? latin : latin.toLowerCase();
  const digit = /^Digit(\d)$/.exec(key.code)?.[1];
  const unshifted = held & SHIFT && !/[a-z]/i.test(char) ? (base(key.code) ?? digit ?? char) : char;
  return written(char, unshifted.toLowerCase(), held, asked);
}

/** What the program asked for last, as far as the output tells. */
export class KeyModes {
  others = false;
  /** Flags of the kitty protocol, the newest last; of more than these the oldest go. */
  private flags: number[] = [];
  static readonly MOST = 16;

  get kitty(): boolean {
    return ((this.flags.at(-1) ?? 0) & 1) === 1;
  }

  follow({ parser }: Pick<Terminal, "parser">): void {
    const on = (prefix: string, final: string, take: (first: number, second: number) => void) =>
      parser.registerCsiHandler({ prefix, final }, ([first, second]) => {
        take(Number(first ?? 0), Number(second ?? 0));
        return true;
      });
    on(">", "u", (flags) => (this.flags = [...this.flags, flags].slice(-KeyModes.MOST)));
    on("<", "u", (count) => this.flags.splice(-(count || 1)));
    on("=", "u", (flags, how) => {
      const before = this.flags.pop() ?? 0;
      this.flags.push(how === 3 ? before & ~flags : how === 2 ? before | flags : flags);
    });
    on(">", "m", (which, value) => (this.others = which === 4 ? value > 0 : which > 0 && this.others));
    on(">", "n", (which) => (this.others &&= which !== 4));
    parser.registerEscHandler({ final: "c" }, () => {
      this.others = false;
      this.flags = [];
      return false;
    });
  }
}
