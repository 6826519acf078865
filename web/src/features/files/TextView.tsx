/** A text, with its colours, to be read and, where the service says so, changed. */
import { Button } from "../../ui/Button.tsx";
import { useEffect, useRef, useState } from "preact/hooks";
import { formatError } from "../../api/errors.ts";
import { plural } from "../../lib/format.ts";
import type { Editor } from "./codemirror.ts";
import { Preview } from "./Preview.tsx";
import type { Opened, Text } from "./state.ts";
import { type Saving, useSaving } from "./useContent.ts";

function Conflict({ saving }: { saving: Saving }) {
  return (
    <div class="conflict" role="alert" data-testid="conflict">
      <p>
        The file changed while you were editing it. The differences are marked. Keep the parts you want, then
        save.
      </p>
      <Button small disabled={saving.busy} onClick={() => void saving.save()} testid="conflict-save">
        Save mine
      </Button>
      <Button small onClick={saving.takeTheirs} testid="conflict-theirs">
        Discard mine
      </Button>
    </div>
  );
}

function whyNot(text: Text): string {
  if (text.truncated)
    return `Showing the first ${plural(text.content.split("\n").length - 1, "line")} of ${text.totalLines.toLocaleString("en")}`;
  return text.reason ?? "Read-only.";
}

function Foot({ text, editable, saving }: { text: Text; editable: boolean; saving: Saving }) {
  return (
    <p class="files-foot">
      <span role="status" data-testid="file-state">
        {saving.problem !== "" && <span class="field-problem">{saving.problem}</span>}
        {saving.problem === "" && (editable ? (saving.changed ? "Unsaved changes" : "Saved") : whyNot(text))}
      </span>
      {editable && (
        <Button
          small
          primary
          disabled={!saving.changed || saving.busy}
          title="Save  Ctrl+S"
          onClick={() => void saving.save()}
          testid="file-save"
        >
          {saving.busy ? "Saving…" : "Save"}
        </Button>
      )}
    </p>
  );
}

interface Props {
  file: Opened;
  text: Text;
  revealed: boolean;
  /** A document is shown as it reads; the editor keeps what was changed. */
  preview: boolean;
}

export function TextView({ file, text, revealed, preview }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | undefined>(undefined);
  const [problem, setProblem] = useState("");
  const saving = useSaving(file, text, revealed, editor);
  const latest = useRef(saving);
  latest.current = saving;
  const editable = text.editable && !text.truncated;
  const [wanted, setWanted] = useState(!preview);
  useEffect(() => {
    if (!preview) setWanted(true);
  }, [preview]);
  useEffect(() => {
    if (!wanted) return;
    let alive = true;
    import("./codemirror.ts").then(
      ({ openEditor }) => {
        if (!alive || !place.current) return;
        editor.current = openEditor(place.current, {
          path: file.path,
          content: text.content,
          editable,
          line: file.line,
          onChange: () => latest.current.touched(),
          onSave: () => void latest.current.save(),
        });
      },
      (error: unknown) => setProblem(formatError(error)),
    );
    return () => {
      alive = false;
      editor.current?.close();
      editor.current = undefined;
    };
  }, [wanted]);
  return (
    <>
      {saving.conflict && <Conflict saving={saving} />}
      {problem !== "" && <p class="field-problem">{problem}</p>}
      {preview && (
        <Preview sessionId={file.sessionId} path={file.path} text={editor.current?.text() ?? text.content} />
      )}
      <div ref={place} class="text-place" hidden={preview} data-testid="text" />
      <Foot text={text} editable={editable} saving={saving} />
    </>
  );
}
