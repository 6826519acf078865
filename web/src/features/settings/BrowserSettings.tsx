/** How terminals behave on this device. */
import { ThemeSettings } from "../terminal/theme/ThemeSettings.tsx";
import { SHIPPED_MONO } from "../../ui/faces/faces.ts";
import { NumberField, SegmentsField, Switch, TextField } from "./fields.tsx";
import {
  change,
  FONT_LEAST,
  FONT_MOST,
  type Home,
  isFamily,
  LINE_LEAST,
  LINE_MOST,
  prefs,
  type SessionList,
  type ThemeChoice,
  SCROLLBACK_LEAST,
  SCROLLBACK_MOST,
} from "../../store/prefs.ts";

const THEMES: [ThemeChoice, string][] = [
  ["system", "System"],
  ["dark", "Dark"],
  ["light", "Light"],
];

const LISTS: [SessionList, string][] = [
  ["auto", "Automatic"],
  ["sidebar", "Sidebar"],
  ["tabs", "Tabs"],
];

const HOMES: [Home, string][] = [
  ["auto", "When busy"],
  ["fleet", "Always"],
  ["session", "Never"],
];

/** The one that comes with the page, and faces that many people have; any other can be typed. */
const FAMILIES = [SHIPPED_MONO, "Cascadia Code", "Fira Code", "IBM Plex Mono", "Source Code Pro"];

const familyProblem = (text: string): string | undefined =>
  isFamily(text) ? undefined : "Enter one font name with letters, digits, spaces and hyphens.";

function Type() {
  return (
    <>
      <TextField
        label="Font"
        hint={`${SHIPPED_MONO} is included; or any font on this device`}
        value={prefs.value.fontFamily}
        placeholder="System default"
        list="font-families"
        problemOf={familyProblem}
        onChange={(fontFamily) => change({ fontFamily })}
        testid="font-family"
      />
      <datalist id="font-families">
        {FAMILIES.map((family) => (
          <option key={family} value={family} />
        ))}
      </datalist>
      <NumberField
        label="Text size"
        unit="px"
        value={prefs.value.fontSize}
        least={FONT_LEAST}
        most={FONT_MOST}
        onChange={(fontSize) => change({ fontSize })}
        testid="font-size"
      />
      <NumberField
        label="Line height"
        unit="%"
        value={prefs.value.lineHeight}
        least={LINE_LEAST}
        most={LINE_MOST}
        step={5}
        onChange={(lineHeight) => change({ lineHeight })}
        testid="line-height"
      />
    </>
  );
}

export function AppearanceSettings() {
  return (
    <section data-testid="look-settings">
      <h3>Appearance</h3>
      <SegmentsField
        label="Theme"
        name="theme"
        choices={THEMES}
        value={prefs.value.theme}
        onChange={(theme) => change({ theme })}
      />
      <SegmentsField
        label="Sessions"
        name="sessions"
        choices={LISTS}
        value={prefs.value.sessionList}
        onChange={(sessionList) => change({ sessionList })}
      />
      <SegmentsField
        label="Start on Fleet"
        name="home"
        choices={HOMES}
        value={prefs.value.home}
        onChange={(home) => change({ home })}
      />
      <ThemeSettings />
      <Type />
      <Switch
        label="Blinking cursor"
        value={prefs.value.cursorBlink}
        onChange={(cursorBlink) => change({ cursorBlink })}
      />
    </section>
  );
}

export function TerminalSettings() {
  return (
    <section>
      <h3>Terminal</h3>
      <NumberField
        label="Scrollback"
        hint="older lines stay in the full history"
        unit="lines"
        value={prefs.value.scrollback}
        least={SCROLLBACK_LEAST}
        most={SCROLLBACK_MOST}
        onChange={(scrollback) => change({ scrollback })}
      />
      <Switch
        label="Copy on select"
        value={prefs.value.copyOnSelect}
        onChange={(copyOnSelect) => change({ copyOnSelect })}
      />
      <Switch
        label="Allow programs to copy (OSC 52)"
        hint="any program in the terminal can then set the clipboard"
        value={prefs.value.programCopy}
        onChange={(programCopy) => change({ programCopy })}
      />
      <Switch
        label="Use Option as Meta key"
        hint="on a Mac"
        value={prefs.value.optionIsMeta}
        onChange={(optionIsMeta) => change({ optionIsMeta })}
      />
      <Switch
        label="Show typed characters at once"
        hint="underlined until the program has echoed them; on slow connections"
        value={prefs.value.localEcho}
        onChange={(localEcho) => change({ localEcho })}
      />
      <Switch
        label="Screen reader"
        hint="lets screen readers read the terminal; slower"
        value={prefs.value.screenReader}
        onChange={(screenReader) => change({ screenReader })}
      />
    </section>
  );
}
