/** How terminals behave on this device. */
import { NumberField, Switch } from "./fields.tsx";
import { change, prefs, SCROLLBACK_LEAST, SCROLLBACK_MOST } from "../../store/prefs.ts";

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
        label="Screen reader"
        hint="lets screen readers read the terminal; slower"
        value={prefs.value.screenReader}
        onChange={(screenReader) => change({ screenReader })}
      />
    </section>
  );
}
