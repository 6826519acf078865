/** The tree, its filter, and the git state of what is in it. */
import { useEffect, useRef, useState } from "preact/hooks";
import { formatError } from "../../api/errors.ts";
import { readTree, downloadFile } from "./requests.ts";
import { searchTree, ROOT, listRows, type Row, type Mark, getMark, collectMarks } from "./tree.ts";
import { handleTreeKey } from "./keys.ts";
import { type Entry, type Tree, opened, openFile } from "./state.ts";
import { answers } from "../git/state.ts";
import { Icon } from "../../ui/Icon.tsx";
import { IconButton } from "../../ui/IconButton.tsx";
import { Problem } from "../../ui/Problem.tsx";

/** Levels that a filter looks into (protocol-files). */
const DEEP = 10;
/** Milliseconds without a key before a filter reads the tree. */
const PAUSE_MS = 150;

interface TreeView {
  root: string;
  rows: Row[];
  /** Not all of it could be told. */
  truncated: boolean;
  busy: boolean;
  problem: string;
  filter: string;
  setFilter: (words: string) => void;
  hidden: boolean;
  setHidden: (hidden: boolean) => void;
  toggle: (path: string) => void;
  again: () => void;
}

interface Folders {
  root: string;
  entries: ReadonlyMap<string, readonly Entry[]>;
  truncated: boolean;
}

const NOTHING: Folders = { root: "", entries: new Map(), truncated: false };

interface Reading {
  end: AbortController;
  asked: Set<string>;
}

/** Ends with the tree that it belongs to, not when one more folder is opened. */
function useReading(id: string, hidden: boolean, turn: number) {
  const reading = useRef<Reading>({ end: new AbortController(), asked: new Set() });
  useEffect(() => {
    const end = new AbortController();
    reading.current = { end, asked: new Set() };
    return () => end.abort();
  }, [id, hidden, turn]);
  return reading;
}

function useFolders(id: string, hidden: boolean, turn: number, open: ReadonlySet<string>) {
  const [folders, setFolders] = useState<Folders>(NOTHING);
  const [problem, setProblem] = useState("");
  const reading = useReading(id, hidden, turn);
  useEffect(() => {
    const { end, asked } = reading.current;
    const keep = (path: string, tree: Tree) =>
      setFolders((before) => ({
        root: tree.root,
        entries: new Map(before.entries).set(path, tree.tree),
        truncated: before.truncated || tree.truncated,
      }));
    for (const path of [ROOT, ...open].filter((each) => !asked.has(each))) {
      asked.add(path);
      readTree(id, path, { depth: 1, hidden, signal: end.signal }).then(
        (tree) => keep(path, tree),
        (error: unknown) => !end.signal.aborted && setProblem(formatError(error)),
      );
    }
  }, [id, hidden, turn, open]);
  return { folders, problem, reset: () => setProblem("") };
}

/** The whole tree, as deep as the service tells it, once a filter wants it. */
function useDeep(id: string, hidden: boolean, turn: number, wanted: boolean) {
  const [deep, setDeep] = useState<Tree>();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    setDeep(undefined);
    setProblem("");
    if (!wanted) return;
    const end = new AbortController();
    const read = () =>
      readTree(id, ROOT, { depth: DEEP, hidden, signal: end.signal }).then(
        setDeep,
        (error: unknown) => !end.signal.aborted && setProblem(formatError(error)),
      );
    const timer = setTimeout(() => void read(), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      end.abort();
    };
  }, [id, hidden, turn, wanted]);
  return { deep, deepProblem: problem };
}

function useTree(id: string): TreeView {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [hidden, setHidden] = useState(false);
  const [turn, setTurn] = useState(0);
  const [filter, setFilter] = useState("");
  const { folders, problem, reset } = useFolders(id, hidden, turn, open);
  const filtering = filter.trim() !== "";
  const { deep, deepProblem } = useDeep(id, hidden, turn, filtering);
  const toggle = (path: string) => {
    const next = new Set(open);
    if (!next.delete(path)) next.add(path);
    setOpen(next);
  };
  const hits =
    filtering && deep ? searchTree(deep.tree, filter).map((entry): Row => ({ entry, level: 1 })) : [];
  return {
    root: folders.root,
    rows: filtering ? hits : listRows(folders.entries, open),
    truncated: filtering ? deep?.truncated === true : folders.truncated,
    busy: filtering ? deep === undefined && deepProblem === "" : !folders.entries.has(ROOT) && problem === "",
    problem: filtering ? deepProblem : problem,
    filter,
    setFilter,
    hidden,
    setHidden,
    toggle,
    again: () => {
      reset();
      setTurn(turn + 1);
    },
  };
}

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
