/** The tree, its filter, and the git state of what is in it. */
import { answers } from "../git/state.ts";
import { Icon } from "../../ui/Icon.tsx";
import { IconButton } from "../../ui/IconButton.tsx";
import { Problem } from "../../ui/Problem.tsx";
import { downloadFile } from "./requests.ts";
import { opened, openFile } from "./state.ts";
import { type Mark, getMark, collectMarks, type Row, handleTreeKey } from "./tree.ts";
import { useTree } from "./useTree.ts";

interface RowProps {
  id: string;
  row: Row;
  mark: Mark | undefined;
  /** A filter shows whole paths. */
  flat: boolean;
  onToggle: (path: string) => void;
}

function FileRow({ id, row, mark, flat, onToggle }: RowProps) {
  const { entry, level, open } = row;
  const folder = open !== undefined;
  const off = entry.type === "other" || (folder === false && entry.type === "dir");
  const act = () => (folder ? onToggle(entry.path) : openFile(id, entry.path));
  return (
    <li class="file-row" style={{ "--level": level }}>
      <button
        type="button"
        class="file-name"
        disabled={off}
        title={mark ? `${entry.path}: ${mark.word}` : entry.path}
        aria-expanded={open}
        aria-current={opened.value?.path === entry.path ? "true" : undefined}
        onClick={act}
        data-testid="file"
        data-path={entry.path}
      >
        <Icon name={folder ? (open ? "down" : "right") : "log"} size={14} />
        <bdi>{flat ? entry.path : entry.name}</bdi>
        {mark && (
          <span class="file-mark" data-kind={mark.kind} data-testid="file-mark">
            <span aria-hidden="true">{mark.letter}</span>
            <span class="sr-only">, {mark.word}</span>
          </span>
        )}
      </button>
      {folder && (
        <IconButton
          icon="download"
          class="file-save"
          label={`Download ${entry.name} as an archive`}
          onClick={() => void downloadFile(id, entry.path)}
        />
      )}
    </li>
  );
}

export function TreePane({ id }: { id: string }) {
  const tree = useTree(id);
  const marks = collectMarks(answers.value.get(id)?.status, tree.root);
  const flat = tree.filter.trim() !== "";
  return (
    <>
      <div class="files-bar">
        <input
          class="field"
          type="search"
          placeholder="Filter"
          aria-label="Filter files"
          value={tree.filter}
          onInput={(event) => tree.setFilter(event.currentTarget.value)}
          data-testid="files-filter"
        />
        <IconButton
          icon="more"
          label="Show hidden files"
          pressed={tree.hidden}
          onClick={() => tree.setHidden(!tree.hidden)}
          testid="files-hidden"
        />
        <IconButton icon="refresh" label="Refresh" onClick={tree.again} testid="files-again" />
      </div>
      <Problem text={tree.problem} testid="files-problem" />
      <ul class="files-list" aria-label="Files" aria-busy={tree.busy} onKeyDown={handleTreeKey}>
        {tree.rows.map((row) => (
          <FileRow
            key={row.entry.path}
            id={id}
            row={row}
            mark={getMark(marks, row.entry.path)}
            flat={flat}
            onToggle={tree.toggle}
          />
        ))}
      </ul>
      {tree.rows.length === 0 && tree.problem === "" && (
        <p class="files-none">
          {tree.busy ? "Loading…" : flat ? "No files match." : "This folder is empty."}
        </p>
      )}
      {tree.truncated && <p class="files-note">Too many files to list. Filter by folder name.</p>}
    </>
  );
}
