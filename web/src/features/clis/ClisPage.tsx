/** The CLIs that sessions can run. */
import { useState } from "preact/hooks";
import type { CliFile } from "../../api/types.ts";
import { Icon } from "../../ui/Icon.tsx";
import { Problem } from "../../ui/Problem.tsx";
import { useReturnFocus } from "../../ui/useReturnFocus.ts";
import { removeCli } from "./calls.ts";
import { CliRow } from "./CliRow.tsx";
import "../../ui/styles/records.css";
import "./clis.css";
import { CliForm } from "./CliForm.tsx";
import { type ClisPage as Clis, useClis } from "./useClis.ts";
import { describeFileProblem } from "./texts.ts";

function FileTrouble({ file, page }: { file: CliFile; page: Clis }) {
  const text = describeFileProblem(file);
  if (text === "") return null;
  return (
    <div class="cli-file" role="note" data-testid="clis-file">
      <p>
        <Icon name="alert" size={16} /> {text}
      </p>
      {page.managed &&
        file.entries.map(({ id }) => (
          <button
            key={id}
            type="button"
            class="button small"
            disabled={page.busy}
            onClick={() => void page.attempt(() => removeCli(id))}
            data-testid="clis-file-remove"
          >
            Remove {id}
          </button>
        ))}
    </div>
  );
}

export function ClisPage() {
  const page = useClis();
  const [adding, setAdding] = useState(false);
  const opener = useReturnFocus(adding);
  if (page.refused !== "") return <p class="records-none dim">{page.refused}</p>;
  const made = () => {
    setAdding(false);
    void page.attempt(async () => undefined);
  };
  return (
    <div class="records-page" aria-busy={page.busy} data-testid="clis">
      <div class="records-bar">
        <span class="dim">
          {page.managed === false ? "Editing is locked." : "Programs that sessions can run."}
        </span>
        {page.managed === false && (
          <button type="button" class="button" onClick={() => void page.manage()} data-testid="clis-manage">
            Edit list
          </button>
        )}
        {page.managed && !adding && (
          <button
            ref={opener}
            type="button"
            class="button primary"
            onClick={() => setAdding(true)}
            data-testid="new-cli"
          >
            <Icon name="plus" size={16} /> New agent
          </button>
        )}
      </div>
      {adding && <CliForm onClose={() => setAdding(false)} onMade={made} />}
      <Problem text={page.problem} testid="clis-problem" />
      {page.file && <FileTrouble file={page.file} page={page} />}
      {page.clis?.length === 0 && <p class="records-none dim">Only admins can see this list.</p>}
      <ul class="records">
        {page.clis?.map((cli) => (
          <CliRow key={cli.id} cli={cli} page={page} />
        ))}
      </ul>
    </div>
  );
}
