/** How terminals behave on this device. */
import { NumberField, Switch } from "./fields.tsx";
import { change, prefs, SCROLLBACK_LEAST, SCROLLBACK_MOST } from "./prefs.ts";

export function Terminal() {
  return (
    <section>
      <h3>Terminal</h3>
      <NumberField
        label="Scrollback"
        hint="older lines stay in the whole history"
        unit="lines"
        value={prefs.value.scrollback}
        least={SCROLLBACK_LEAST}
        most={SCROLLBACK_MOST}
        onChange={(scrollback) => change({ scrollback })}
      />
      <Switch
        label="Copy what is selected"
        value={prefs.value.copyOnSelect}
        onChange={(copyOnSelect) => change({ copyOnSelect })}
      />
      <Switch
        label="Programs may copy"
        hint="any program on the screen could fill the clipboard (OSC 52)"
        value={prefs.value.programCopy}
        onChange={(programCopy) => change({ programCopy })}
      />
      <Switch
        label="Option key is Meta"
        hint="on a Mac"
        value={prefs.value.optionIsMeta}
        onChange={(optionIsMeta) => change({ optionIsMeta })}
      />
      <Switch
        label="Screen reader"
        hint="reads the terminal's lines aloud; slower"
        value={prefs.value.screenReader}
        onChange={(screenReader) => change({ screenReader })}
      />
    </section>
  );
}
