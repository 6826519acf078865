/** Keys that a phone's keyboard lacks, above it. */
import { useEffect, useRef } from "preact/hooks";
import { currentView } from "../terminal/current.ts";
import { terminalItems } from "../terminal/terminalmenu.ts";
import { Icon, type IconName } from "../ui/Icon.tsx";
import { menuUnder } from "../ui/menu.ts";
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

interface KeyProps {
  send: BarKey;
  label: string;
  face?: string;
  icon?: IconName;
}

/** A click without a pointer is a screen reader's or a switch's. */
const byPointer = (event: MouseEvent): boolean => event.detail !== 0;

function Key({ send, label, face, icon }: KeyProps) {
  const repeat = useRepeat(() => sendKey(send));
  return (
    <button
      type="button"
      class="key"
      aria-label={label}
      data-testid={`key-${send}`}
      {...repeat}
      onClick={(event) => byPointer(event) || sendKey(send)}
    >
      {icon ? <Icon name={icon} /> : face}
    </button>
  );
}

function Modifier({ name, face }: { name: keyof Sticky; face: string }) {
  const state = sticky.value[name];
  const down = (event: PointerEvent) => {
    event.preventDefault();
    pressModifier(name);
  };
  return (
    <button
      type="button"
      class="key modifier"
      data-stick={state}
      aria-pressed={state !== "off"}
      aria-label={state === "locked" ? `${face} locked` : face}
      data-testid={`key-${face}`}
      onPointerDown={down}
      onClick={(event) => byPointer(event) || pressModifier(name)}
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

interface ToolProps {
  label: string;
  icon: IconName;
  testid: string;
  act: (event: MouseEvent) => void;
}

function Tool({ label, icon, testid, act }: ToolProps) {
  const keepFocus = (event: PointerEvent) => event.preventDefault();
  return (
    <button
      type="button"
      class="key tool"
      aria-label={label}
      data-testid={testid}
      onPointerDown={keepFocus}
      onClick={act}
    >
      <Icon name={icon} />
    </button>
  );
}

export function KeyBar() {
  if (!coarse.value || !currentView.value) return null;
  return (
    <div class="keybar" role="toolbar" aria-label="Terminal keys" data-testid="keybar">
      <Key send="Escape" label="Escape" face="Esc" />
      <Key send="Tab" label="Tab" face="Tab" />
      <Key send="BackTab" label="Shift Tab" face="⇤" />
      <Modifier name="ctrl" face="Ctrl" />
      <Key send="Up" label="Up" icon="up" />
      <Tool
        label="Paste"
        icon="paste"
        testid="key-paste"
        act={() => void currentView.peek()?.clipping.pasteFromClipboard()}
      />
      <Tool label="Show or hide the keyboard" icon="keyboard" testid="key-keyboard" act={hideKeyboard} />
      <Modifier name="alt" face="Alt" />
      <Key send="Interrupt" label="Control C" face="^C" />
      <Key send="Enter" label="Enter" face="⏎" />
      <Key send="Left" label="Left" icon="left" />
      <Key send="Down" label="Down" icon="down" />
      <Key send="Right" label="Right" icon="right" />
      <Tool label="More" icon="more" testid="key-more" act={more} />
    </div>
  );
}
