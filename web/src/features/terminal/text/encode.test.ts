import { describe, expect, test } from "vitest";
import { Terminal } from "@xterm/xterm";
import { type Asked, encodeKey, KeyModes } from "./encode.ts";

const NOTHING: Asked = { kitty: false, others: false, alternate: false, mac: false };
const KITTY: Asked = { ...NOTHING, kitty: true };
const OTHERS: Asked = { ...NOTHING, others: true };
const AGENT: Asked = { ...NOTHING, newline: "\x1b[13;2u" };

/** KeyboardEvent.keyCode of the keys that produce a letter or a digit. */
const keyCodeOf = (code: string): number =>
  /^(?:Key|Digit)(.)$/.exec(code)?.[1]?.charCodeAt(0) ?? (code === "Space" ? 32 : 0);

/** @param held of c(ontrol), a(lt), s(hift), m(eta), g (AltGraph). */
function key(code: string, value: string, held = "", keyCode = keyCodeOf(code)): KeyboardEvent {
  return {
    code,
    key: value,
    keyCode,
    ctrlKey: held.includes("c"),
    altKey: held.includes("a"),
    shiftKey: held.includes("s"),
    metaKey: held.includes("m"),
    isComposing: false,
    getModifierState: (name: string) => name === "AltGraph" && held.includes("g"),
  } as KeyboardEvent;
}

type Row = readonly [
  code: string,
  value: string,
  held: string,
  plain: string | undefined,
  others: string | undefined,
  kitty: string | undefined,
];

/** Undefined: the emulator's own encoding is right. Empty: nothing is sent, the browser has the key. */
const NAMED: readonly Row[] = [
  ["Enter", "Enter", "", undefined, undefined, undefined],
  ["Enter", "Enter", "s", "\r", "\x1b[13;2u", "\x1b[13;2u"],
  ["Enter", "Enter", "c", "\r", "\x1b[13;5u", "\x1b[13;5u"],
  ["Enter", "Enter", "cs", "\r", "\x1b[13;6u", "\x1b[13;6u"],
  ["Enter", "Enter", "a", "\x1b\r", "\x1b\r", "\x1b[13;3u"],
  ["NumpadEnter", "Enter", "s", "\r", "\x1b[13;2u", "\x1b[13;2u"],
  ["Tab", "Tab", "", undefined, undefined, undefined],
  ["Tab", "Tab", "s", "\x1b[Z", "\x1b[Z", "\x1b[9;2u"],
  ["Tab", "Tab", "c", "\t", "\x1b[9;5u", "\x1b[9;5u"],
  ["Tab", "Tab", "cs", "\x1b[Z", "\x1b[9;6u", "\x1b[9;6u"],
  ["Escape", "Escape", "", undefined, undefined, "\x1b[27u"],
  ["Escape", "Escape", "s", "\x1b", "\x1b[27;2u", "\x1b[27;2u"],
  ["Escape", "Escape", "a", "\x1b\x1b", "\x1b\x1b", "\x1b[27;3u"],
  ["Backspace", "Backspace", "", undefined, undefined, undefined],
  ["Backspace", "Backspace", "c", "\b", "\b", "\x1b[127;5u"],
  ["Backspace", "Backspace", "a", "\x1b\x7f", "\x1b\x7f", "\x1b[127;3u"],
  ["Backspace", "Backspace", "s", "\x7f", "\x1b[127;2u", "\x1b[127;2u"],
  ["ArrowUp", "ArrowUp", "", undefined, undefined, "\x1b[A"],
  ["ArrowLeft", "ArrowLeft", "c", "\x1b[1;5D", "\x1b[1;5D", "\x1b[1;5D"],
  ["ArrowRight", "ArrowRight", "as", "\x1b[1;4C", "\x1b[1;4C", "\x1b[1;4C"],
  ["ArrowDown", "ArrowDown", "cas", "\x1b[1;8B", "\x1b[1;8B", "\x1b[1;8B"],
  ["Home", "Home", "", undefined, undefined, "\x1b[H"],
  ["End", "End", "s", "\x1b[1;2F", "\x1b[1;2F", "\x1b[1;2F"],
  ["Delete", "Delete", "s", "\x1b[3;2~", "\x1b[3;2~", "\x1b[3;2~"],
  ["Insert", "Insert", "a", "\x1b[2;3~", "\x1b[2;3~", "\x1b[2;3~"],
  ["Insert", "Insert", "s", "", "", ""],
  ["Insert", "Insert", "c", "", "", ""],
  ["PageUp", "PageUp", "a", "\x1b[5;3~", "\x1b[5;3~", "\x1b[5;3~"],
  ["PageDown", "PageDown", "c", "\x1b[6;5~", "\x1b[6;5~", "\x1b[6;5~"],
  ["PageUp", "PageUp", "cs", "\x1b[5;6~", "\x1b[5;6~", "\x1b[5;6~"],
  ["PageUp", "PageUp", "s", undefined, undefined, undefined],
  ["F1", "F1", "", undefined, undefined, "\x1b[P"],
  ["F3", "F3", "", undefined, undefined, "\x1b[13~"],
  ["F3", "F3", "s", "\x1b[1;2R", "\x1b[1;2R", "\x1b[13;2~"],
  ["F5", "F5", "c", "\x1b[15;5~", "\x1b[15;5~", "\x1b[15;5~"],
  ["F12", "F12", "a", "\x1b[24;3~", "\x1b[24;3~", "\x1b[24;3~"],
];

const LETTERS: readonly Row[] = [
  ["KeyA", "a", "", undefined, undefined, undefined],
  ["KeyA", "A", "s", undefined, undefined, undefined],
  ["KeyA", "a", "c", "\x01", "\x01", "\x1b[97;5u"],
  ["KeyA", "A", "c", "\x01", "\x01", "\x1b[97;5u"],
  ["KeyI", "i", "c", "\t", "\t", "\x1b[105;5u"],
  ["KeyA", "A", "cs", "", "\x1b[65;6u", "\x1b[97;6u"],
  ["KeyA", "a", "a", "\x1ba", "\x1ba", "\x1b[97;3u"],
  ["KeyA", "A", "as", "\x1bA", "\x1bA", "\x1b[97;4u"],
  ["KeyA", "a", "ca", "\x1b\x01", "\x1b\x01", "\x1b[97;7u"],
  ["Space", " ", "", undefined, undefined, undefined],
  ["Space", " ", "c", "\0", "\0", "\x1b[32;5u"],
  ["Space", " ", "a", "\x1b ", "\x1b ", "\x1b[32;3u"],
];

const US: readonly Row[] = [
  ["Digit1", "1", "c", "", "\x1b[49;5u", "\x1b[49;5u"],
  ["Digit2", "2", "c", "\0", "\0", "\x1b[50;5u"],
  ["Digit2", "@", "cs", "\0", "\0", "\x1b[50;6u"],
  ["Digit3", "3", "c", "\x1b", "\x1b", "\x1b[51;5u"],
  ["Digit6", "6", "c", "\x1e", "\x1e", "\x1b[54;5u"],
  ["Digit6", "^", "cs", "\x1e", "\x1e", "\x1b[54;6u"],
  ["Digit8", "8", "c", "\x7f", "\x7f", "\x1b[56;5u"],
  ["Digit1", "1", "a", "\x1b1", "\x1b1", "\x1b[49;3u"],
  ["Digit1", "!", "as", "\x1b!", "\x1b!", "\x1b[49;4u"],
  ["Minus", "_", "cs", "\x1f", "\x1f", "\x1b[45;6u"],
  ["Slash", "/", "c", "\x1f", "\x1f", "\x1b[47;5u"],
  ["Slash", "?", "cs", "\x7f", "\x7f", "\x1b[47;6u"],
  ["BracketLeft", "[", "c", "\x1b", "\x1b", "\x1b[91;5u"],
  ["BracketLeft", "{", "cs", "", "\x1b[123;6u", "\x1b[91;6u"],
  ["BracketRight", "]", "c", "\x1d", "\x1d", "\x1b[93;5u"],
  ["Backslash", "\\", "c", "\x1c", "\x1c", "\x1b[92;5u"],
  ["Backquote", "`", "c", "", "\x1b[96;5u", "\x1b[96;5u"],
  ["Backquote", "~", "cs", "\x1e", "\x1e", "\x1b[96;6u"],
  ["Semicolon", ";", "c", "", "\x1b[59;5u", "\x1b[59;5u"],
  ["Comma", ",", "a", "\x1b,", "\x1b,", "\x1b[44;3u"],
  ["Period", ">", "as", "\x1b>", "\x1b>", "\x1b[46;4u"],
];

const GERMAN: readonly Row[] = [
  ["KeyY", "z", "c", "\x1a", "\x1a", "\x1b[122;5u"],
  ["KeyZ", "y", "a", "\x1by", "\x1by", "\x1b[121;3u"],
  ["Minus", "ß", "c", "", "\x1b[223;5u", "\x1b[223;5u"],
  ["Minus", "ß", "a", "\x1bß", "\x1bß", "\x1b[223;3u"],
  ["Semicolon", "ö", "a", "\x1bö", "\x1bö", "\x1b[246;3u"],
  ["Quote", "ä", "c", "", "\x1b[228;5u", "\x1b[228;5u"],
  ["Slash", "_", "cs", "\x1f", "\x1f", "\x1b[45;6u"],
  ["Slash", "-", "c", "", "\x1b[45;5u", "\x1b[45;5u"],
  ["Digit7", "/", "cs", "\x1f", "\x1f", "\x1b[55;6u"],
  ["Digit7", "/", "as", "\x1b/", "\x1b/", "\x1b[55;4u"],
  ["Backslash", "#", "a", "\x1b#", "\x1b#", "\x1b[35;3u"],
  ["Digit8", "[", "g", undefined, undefined, undefined],
  ["KeyQ", "@", "cag", undefined, undefined, undefined],
  ["Equal", "Dead", "", undefined, undefined, undefined],
  ["Backquote", "Dead", "c", undefined, undefined, undefined],
];

const FRENCH: readonly Row[] = [
  ["KeyQ", "a", "c", "\x01", "\x01", "\x1b[97;5u"],
  ["Semicolon", "m", "c", "\r", "\r", "\x1b[109;5u"],
  ["Digit1", "&", "a", "\x1b&", "\x1b&", "\x1b[38;3u"],
  ["Digit1", "1", "as", "\x1b1", "\x1b1", "\x1b[38;4u"],
  ["Digit2", "é", "c", "", "\x1b[233;5u", "\x1b[233;5u"],
  ["Digit8", "_", "c", "\x1f", "\x1f", "\x1b[95;5u"],
  ["Digit6", "-", "a", "\x1b-", "\x1b-", "\x1b[45;3u"],
  ["Digit6", "6", "cs", "\x1e", "\x1e", "\x1b[45;6u"],
  ["Period", "/", "cs", "\x1f", "\x1f", "\x1b[58;6u"],
];

const JAPANESE: readonly Row[] = [
  ["BracketLeft", "@", "c", "\0", "\0", "\x1b[64;5u"],
  ["BracketRight", "[", "c", "\x1b", "\x1b", "\x1b[91;5u"],
  ["Backslash", "]", "c", "\x1d", "\x1d", "\x1b[93;5u"],
  ["Equal", "^", "c", "\x1e", "\x1e", "\x1b[94;5u"],
  ["IntlRo", "\\", "c", "\x1c", "\x1c", "\x1b[92;5u"],
  ["IntlYen", "\\", "c", "\x1c", "\x1c", "\x1b[92;5u"],
  ["IntlRo", "_", "cs", "\x1f", "\x1f", "\x1b[92;6u"],
  ["Quote", ":", "a", "\x1b:", "\x1b:", "\x1b[58;3u"],
  ["Convert", "Convert", "", undefined, undefined, undefined],
  ["KanaMode", "KanaMode", "", undefined, undefined, undefined],
];

/** What the keys of a layout write without modifiers, where it is not what US keys write. */
const BASES: Record<string, Record<string, string>> = {
  US: { Minus: "-", Slash: "/", BracketLeft: "[", Period: ".", Backquote: "`" },
  German: { Slash: "-", Digit7: "7" },
  French: { Digit1: "&", Digit6: "-", Period: ":" },
  Japanese: { IntlRo: "\\" },
};

describe.each([
  ["named keys", NAMED],
  ["letters", LETTERS],
  ["US", US],
  ["German", GERMAN],
  ["French", FRENCH],
  ["Japanese", JAPANESE],
] as const)("%s", (name, rows) => {
  const base = (code: string) => BASES[name]?.[code];
  test.each(rows)("%s writes %j with %s", (code, value, held, plain, others, kitty) => {
    const pressed = key(code, value, held);
    expect(encodeKey(pressed, NOTHING, base)).toBe(plain);
    expect(encodeKey(pressed, OTHERS, base)).toBe(others);
    expect(encodeKey(pressed, KITTY, base)).toBe(kitty);
  });
});

describe("keys beside the layouts", () => {
  test("Shift+Enter is the agent's newline where the program asked for nothing", () => {
    const pressed = key("Enter", "Enter", "s");
    expect(encodeKey(pressed, AGENT)).toBe("\x1b[13;2u");
    expect(encodeKey(pressed, { ...NOTHING, newline: "\n" })).toBe("\n");
    expect(encodeKey(pressed, { ...KITTY, newline: "\n" })).toBe("\x1b[13;2u");
    expect(encodeKey(key("Enter", "Enter", "c"), AGENT)).toBe("\r");
  });

  test("a full-screen program gets Shift+PageUp", () => {
    expect(encodeKey(key("PageUp", "PageUp", "s"), { ...NOTHING, alternate: true })).toBe("\x1b[5;2~");
  });

  test("a Cyrillic letter's key is the Latin one with Control and Alt", () => {
    expect(encodeKey(key("KeyC", "с", "c"), NOTHING)).toBe("\x03");
    expect(encodeKey(key("KeyB", "и", "a"), NOTHING)).toBe("\x1bb");
  });

  test("a quoted key is sent, alone with Control", () => {
    const quoted = { ...NOTHING, quoted: true };
    const pressed: [KeyboardEvent, string | undefined][] = [
      [key("KeyW", "w"), "\x17"],
      [key("KeyT", "T", "s"), "\x14"],
      [key("KeyT", "T", "cs"), "\x14"],
      [key("Digit1", "1", "a"), "\x1b1"],
      [key("PageUp", "PageUp"), "\x1b[5;5~"],
      [key("PageUp", "PageUp", "s"), "\x1b[5;2~"],
      [key("Insert", "Insert", "s"), "\x1b[2;2~"],
      [key("F11", "F11", "s"), "\x1b[23;2~"],
      [key("F11", "F11"), undefined],
      [key("Tab", "Tab"), "\t"],
    ];
    for (const [each, data] of pressed) expect(encodeKey(each, quoted)).toBe(data);
    expect(encodeKey(key("Tab", "Tab"), { ...quoted, kitty: true })).toBe("\x1b[9;5u");
    expect(encodeKey(key("KeyT", "T", "cs"), { ...quoted, others: true })).toBe("\x1b[84;6u");
  });

  test("Command, compositions and Option on a Mac stay with the emulator", () => {
    expect(encodeKey(key("KeyC", "c", "m"), KITTY)).toBeUndefined();
    expect(encodeKey({ ...key("Enter", "Enter", "s"), isComposing: true }, KITTY)).toBeUndefined();
    expect(encodeKey(key("Enter", "Enter", "s", 229), AGENT)).toBeUndefined();
    expect(encodeKey(key("KeyB", "∫", "a"), { ...NOTHING, mac: true })).toBeUndefined();
    expect(encodeKey(key("Enter", "Enter", "s"), { ...AGENT, mac: true })).toBe("\x1b[13;2u");
  });
});

describe("modes", () => {
  /** What holds after each of some sequences. */
  async function follow(...sequences: string[]): Promise<[kitty: boolean, others: boolean][]> {
    const terminal = new Terminal({ allowProposedApi: true });
    const modes = new KeyModes();
    modes.follow(terminal);
    const found: [boolean, boolean][] = [];
    for (const each of sequences) {
      await new Promise<void>((done) => terminal.write(each, done));
      found.push([modes.kitty, modes.others]);
    }
    terminal.dispose();
    return found;
  }

  test("flags of the kitty protocol are a stack", async () => {
    const sequences = ["\x1b[>1u", "\x1b[>u", "\x1b[<u", "\x1b[=1;3u", "\x1b[=5;2u", "\x1b[=8u", "\x1b[=1u"];
    const kitty = (await follow(...sequences, "\x1b[<9u")).map(([each]) => each);
    expect(kitty).toEqual([true, false, true, false, true, false, true, false]);
  });

  test("other keys are asked for and given back", async () => {
    const asked = await follow(
      "\x1b[>4;2m",
      "\x1b[>4m",
      "\x1b[>4;1m",
      "\x1b[>2;1m",
      "\x1b[>4n",
      "\x1b[>4;1m\x1b[>m",
    );
    expect(asked.map(([, others]) => others)).toEqual([true, false, true, true, false, false]);
  });

  test("a reset forgets both", async () => {
    expect(await follow("\x1b[>4;1m\x1b[>1u", "\x1bc")).toEqual([
      [true, true],
      [false, false],
    ]);
  });

  test("a program that pushes without end is bounded", async () => {
    expect(await follow("\x1b[>1u".repeat(100) + "\x1b[<16u")).toEqual([[false, false]]);
  });
});
