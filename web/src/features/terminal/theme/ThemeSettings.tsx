/** The palette of terminals on this device: chosen, brought along from another program, taken away. */
import { useState } from "preact/hooks";
import { getErrorText } from "../../../api/errors.ts";
import { change } from "../../../store/prefs.ts";
import { Icon } from "../../../ui/Icon.tsx";
import { addPalette, chosenPalette, imported, palettes, removePalette } from "./storedpalettes.ts";
import type { Palette } from "./palette.ts";
import { FILE_MOST, readPalette } from "./importpalette.ts";

async function bring(file: File): Promise<void> {
  if (file.size > FILE_MOST) throw new Error(`Choose a theme file of at most ${FILE_MOST / 1024} KiB.`);
  addPalette(readPalette(file.name, await file.text()));
}

/** A line of a program in the palette's colours. */
function Sample({ palette }: { palette: Palette }) {
  const { background, foreground, ansi } = palette;
  return (
    <div
      class="palette-sample"
      style={{ background, color: foreground }}
      aria-hidden="true"
      data-testid="palette-sample"
    >
      <code>
        <span style={{ color: ansi[2] }}>~/work</span> <span style={{ color: ansi[4] }}>main</span> $ make{" "}
        <span style={{ color: ansi[1] }}>error</span>
      </code>
      <span class="palette-colours">
        {ansi.map((colour, at) => (
          <i key={at} style={{ background: colour }} />
        ))}
      </span>
    </div>
  );
}

function Import({ onProblem }: { onProblem: (text: string) => void }) {
  const chosen = (input: HTMLInputElement) => {
    const [file] = input.files ?? [];
    input.value = "";
    if (!file) return;
    onProblem("");
    bring(file).catch((error: unknown) => onProblem(getErrorText(error)));
  };
  return (
    <label class="button palette-import">
      <input
        type="file"
        accept=".itermcolors,.json,.jsonc,application/json"
        onChange={(event) => chosen(event.currentTarget)}
        aria-describedby="palette-problem"
        data-testid="palette-file"
      />
      Import…
    </label>
  );
}

export function ThemeSettings() {
  const [problem, setProblem] = useState("");
  const palette = chosenPalette.value;
  const own = palette && imported.value.some((each) => each.id === palette.id) ? palette : undefined;
  return (
    <>
      <div class="setting palette-setting">
        <label for="palette-choice">
          Terminal colours
          <small>import an iTerm2 .itermcolors or VS Code .json file</small>
        </label>
        <span class="setting-buttons">
          <select
            id="palette-choice"
            class="field"
            value={palette?.id ?? "page"}
            onChange={(event) => change({ terminalTheme: event.currentTarget.value })}
            data-testid="palette-choice"
          >
            <option value="page">Match theme</option>
            {palettes.value.map((each) => (
              <option key={each.id} value={each.id}>
                {each.name}
              </option>
            ))}
          </select>
          <Import onProblem={setProblem} />
          {own && (
            <button
              type="button"
              class="button"
              onClick={() => removePalette(own.id)}
              data-testid="palette-remove"
            >
              Remove
            </button>
          )}
        </span>
      </div>
      <p
        class="save-mark"
        id="palette-problem"
        role="status"
        data-state={problem === "" ? undefined : "refused"}
        data-testid="palette-problem"
      >
        {problem !== "" && (
          <>
            <Icon name="alert" size={15} /> {problem}
          </>
        )}
      </p>
      {palette && <Sample palette={palette} />}
    </>
  );
}
