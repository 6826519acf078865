/** Keys that a phone's keyboard lacks, above it. */
import { useEffect, useRef } from "preact/hooks";
import { writing } from "../prompt/focus.ts";
import { currentView } from "../terminal/current.ts";
import { terminalItems } from "../terminal/terminalmenu.ts";
import { Icon, type IconName } from "../../ui/Icon.tsx";
import { menuUnder } from "../../ui/menu.ts";
import { type BarKey, bytesOf, type Sticky } from "./modifiers.ts";
import { coarse, pressModifier, releaseModifiers, sticky } from "./state.ts";

const REPEAT_AFTER_MS = 350;
const REPEAT_MS = 60;

function sendKey(key: BarKey): void {
  const view = currentView.peek();
  if (!view) return;
  view.send(bytesOf(key, view.screen.terminal.modes.applicationCursorKeysMode, sticky.peek()));
  releaseModifiers();
}

/** Held down, the key repeats; the terminal keeps the focus, so the keyboard stays open. */
function useRepeat(act: () => void) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const stop = () => clearTimeout(timer.current);
  useEffect(() => stop, []);
  const again = () => {
    act();
    timer.current = setTimeout(again, REPEAT_MS);
  };
  const begin = (event: PointerEvent) => {
    event.preventDefault();
    act();
    timer.current = setTimeout(again, REPEAT_AFTER_MS);
  };
  return { onPointerDown: begin, onPointerUp: stop, onPointerCancel: stop, onPointerLeave: stop };
}

/** A click without a pointer is a screen reader's or a switch's. */
const byPointer = (event: MouseEvent): boolean => event.detail !== 0;

const keepFocus = (event: PointerEvent): void => event.preventDefault();

interface ArrowProps {
  send: BarKey;
  icon: IconName;
}

/** It does not scroll away, so it acts the moment that it is touched. */
function Arrow({ send, icon }: ArrowProps) {
  const repeat = useRepeat(() => sendKey(send));
  return (
    <button
      type="button"
      class="key arrow"
      aria-label={send}
      data-arrow={send}
      data-testid={`key-${send}`}
      {...repeat}
      onClick={(event) => byPointer(event) || sendKey(send)}
    >
      <Icon name={icon} />
    </button>
  );
}

interface KeyProps {
  label: string;
  testid: string;
  act: (event: MouseEvent) => void;
  face?: string;
  icon?: IconName;
}

/** A key of the row: a finger that begins to scroll on it presses nothing. */
function Key({ label, testid, act, face, icon }: KeyProps) {
  return (
    <button
      type="button"
      class={icon ? "key tool" : "key"}
      aria-label={label}
      data-testid={testid}
      onPointerDown={keepFocus}
      onClick={act}
    >
      {icon ? <Icon name={icon} /> : face}
    </button>
  );
}

function Modifier({ name, face }: { name: keyof Sticky; face: string }) {
  const state = sticky.value[name];
  return (
    <button
      type="button"
      class="key modifier"
      data-stick={state}
      aria-pressed={state !== "off"}
      aria-label={state === "locked" ? `${face} locked` : face}
      data-testid={`key-${face}`}
      onPointerDown={keepFocus}
      onClick={() => pressModifier(name)}
    >
      {face}
    </button>
  );
}

function hideKeyboard(): void {
  if (document.activeElement instanceof HTMLElement && document.activeElement.closest(".terminal-host"))
    document.activeElement.blur();
  else currentView.peek()?.focus();
}

function more(event: MouseEvent): void {
  const view = currentView.peek();
  if (view) menuUnder("Terminal", terminalItems(view), event.currentTarget as Element);
}

const paste = (): void => void currentView.peek()?.clipping.pasteFromClipboard();

/** Faces of keys that send something, in two parts of the row. */
const FIRST: readonly (readonly [BarKey, string, string])[] = [
  ["Escape", "Escape", "Esc"],
  ["Interrupt", "Control C", "^C"],
  ["Enter", "Enter", "⏎"],
  ["Tab", "Tab", "Tab"],
];
const OTHERS: readonly (readonly [BarKey, string, string])[] = [["BackTab", "Shift Tab", "⇤"]];
const FAR: readonly (readonly [BarKey, string, string])[] = [
  ["PageUp", "PgUp, page up", "PgUp"],
  ["PageDown", "PgDn, page down", "PgDn"],
  ["Home", "Home", "Home"],
  ["End", "End", "End"],
];

const senders = (keys: typeof FIRST) =>
  keys.map(([send, label, face]) => (
    <Key key={send} label={label} face={face} testid={`key-${send}`} act={() => sendKey(send)} />
  ));

/** Laid out as on a small keyboard: an inverted T whose upper half is Up and lower half Down. */
function Arrows() {
  return (
    <div class="arrows" role="group" aria-label="Arrows">
      <Arrow send="Left" icon="left" />
      <Arrow send="Up" icon="up" />
      <Arrow send="Down" icon="down" />
      <Arrow send="Right" icon="right" />
    </div>
  );
}

export function KeyBar() {
  // A phone's own keyboard is up for the prompt box: the terminal's keys would only cost rows.
  if (!coarse.value || !currentView.value || writing.value) return null;
  return (
    <div class="keybar" role="toolbar" aria-label="Terminal keys" data-testid="keybar">
      <div class="keyrow" data-testid="keyrow">
        {senders(FIRST)}
        <Modifier name="ctrl" face="Ctrl" />
        {senders(OTHERS)}
        <Key label="Show or hide the keyboard" icon="keyboard" testid="key-keyboard" act={hideKeyboard} />
        <Key label="Paste" icon="paste" testid="key-paste" act={paste} />
        <Modifier name="alt" face="Alt" />
        {senders(FAR)}
        <Key label="More" icon="more" testid="key-more" act={more} />
      </div>
      <Arrows />
    </div>
  );
}
