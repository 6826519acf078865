/** The CLIs that sessions can run. */
import { Button } from "../../ui/Button.tsx";
import { api } from "../../api/client.ts";
import type { CliFile } from "../../api/types.ts";
import { Icon } from "../../ui/Icon.tsx";
import { ListPage } from "../../ui/ListPage.tsx";
import { CliRow, CliForm } from "./CliRow.tsx";
import "./clis.css";
import { type Clis, useClis } from "./useClis.ts";
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
          <Button
            key={id}
            small
            disabled={page.busy}
            onClick={() => void page.attempt(() => api.delete("/api/clis/{id}", { path: { id } }))}
            testid="clis-file-remove"
          >
            Remove {id}
          </Button>
        ))}
    </div>
  );
}

export function ClisPage() {
  const page = useClis();
  if (page.refused !== "") return <p class="records-none dim">{page.refused}</p>;
  const form = (close: () => void) => {
    const made = () => {
      close();
      void page.attempt();
    };
    return <CliForm onClose={close} onMade={made} />;
  };
  const edit = (
    <Button onClick={() => void page.manage()} testid="clis-manage">
      Edit list
    </Button>
  );
  return (
    <ListPage
      testid="clis"
      summary={page.managed === false ? "Editing is locked." : "Programs that sessions can run."}
      actions={page.managed === false && edit}
      add={page.managed ? { label: "New agent", testid: "new-cli", form } : undefined}
      problem={page.problem}
      busy={page.busy}
      items={page.clis}
      empty="Only admins can see this list."
      row={(cli) => <CliRow key={cli.id} cli={cli} page={page} />}
    >
      {() => page.file && <FileTrouble file={page.file} page={page} />}
    </ListPage>
  );
}
