/** A name for a folder that is there; nothing is written into it (protocol-cases). */
import { useState } from "preact/hooks";
import { formatError } from "../../api/errors.ts";
import { settings } from "../../store/state.ts";
import { Problem } from "../../ui/Problem.tsx";
import { useFirstField } from "../../ui/useFirstField.ts";
import { BrowsePane } from "./BrowsePane.tsx";
import { api } from "../../api/client.ts";
import "./picker.css";
import { suggestCaseName, validateCaseName } from "./rules.ts";
import { keepCase } from "./state.ts";
import type { CaseResponse } from "../../api/types.ts";

interface Props {
  cases: readonly CaseResponse[];
  onClose: () => void;
  onLinked: (name: string) => void;
}

export function LinkForm({ cases, onClose, onLinked }: Props) {
  const form = useFirstField();
  const [path, setPath] = useState("");
  const [name, setName] = useState<string>();
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const called = name ?? suggestCaseName(path);
  const wrong = validateCaseName(called, cases);
  const link = async (event: Event) => {
    event.preventDefault();
    if (busy || path.trim() === "" || called === "" || wrong !== undefined) return;
    setBusy(true);
    try {
      keepCase((await api.post("/api/cases/link", { body: { name: called, path: path.trim() } })).case);
      onLinked(called);
    } catch (error) {
      setProblem(formatError(error));
      setBusy(false);
    }
  };
  const made = (each: CaseResponse) => {
    keepCase(each);
    onLinked(each.name);
  };
  return (
    <form
      ref={form}
      class="sheet"
      aria-label="Link a folder"
      onSubmit={(event) => void link(event)}
      data-testid="link-form"
    >
      <label class="labelled">
        <span>
          Folder <small>The folder is not moved or changed.</small>
        </span>
        <input
          class="field"
          value={path}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          placeholder="/srv/project"
          onInput={(event) => setPath(event.currentTarget.value)}
          data-testid="link-path"
        />
      </label>
      <div class="picker">
        <BrowsePane from={settings.value.defaultWorkingDir ?? ""} onChoose={setPath} onMade={made} />
      </div>
      <label class="labelled">
        <span>
          Name <small>letters, digits, - and _</small>
        </span>
        <input
          class="field"
          value={called}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          onInput={(event) => setName(event.currentTarget.value)}
          data-testid="link-name"
        />
      </label>
      <Problem text={wrong ?? problem} testid="link-problem" />
      <div class="sheet-foot">
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="submit"
          class="button primary"
          disabled={busy || path.trim() === "" || called === "" || wrong !== undefined}
          data-testid="link-submit"
        >
          {busy ? "Linking…" : "Link"}
        </button>
      </div>
    </form>
  );
}
