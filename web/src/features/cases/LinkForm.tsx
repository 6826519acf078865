/** A name for a folder that is there; nothing is written into it (protocol-cases). */
import { PlainInput } from "../../ui/PlainInput.tsx";
import { useState } from "preact/hooks";
import { formatError } from "../../api/errors.ts";
import { settings } from "../../store/state.ts";
import { SheetForm } from "../../ui/SheetForm.tsx";
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
    <SheetForm
      label="Link a folder"
      testid="link"
      onSubmit={link}
      onClose={onClose}
      problem={wrong ?? problem}
      busy={busy || path.trim() === "" || called === "" || wrong !== undefined}
      action={busy ? "Linking…" : "Link"}
      actionTestid="link-submit"
    >
      <label class="labelled">
        <span>
          Folder <small>The folder is not moved or changed.</small>
        </span>
        <PlainInput value={path} placeholder="/srv/project" onText={setPath} testid="link-path" />
      </label>
      <div class="picker">
        <BrowsePane from={settings.value.defaultWorkingDir ?? ""} onChoose={setPath} onMade={made} />
      </div>
      <label class="labelled">
        <span>
          Name <small>letters, digits, - and _</small>
        </span>
        <PlainInput value={called} onText={setName} testid="link-name" />
      </label>
    </SheetForm>
  );
}
