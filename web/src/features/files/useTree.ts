/** The folders of a workspace, each read when it is opened. */
import { useEffect, useRef, useState } from "preact/hooks";
import { formatError } from "../../api/errors.ts";
import { readTree } from "./requests.ts";
import { searchTree, ROOT, listRows, type Row } from "./tree.ts";
import type { Entry, Tree } from "./state.ts";

/** Levels that a filter looks into (protocol-files). */
const DEEP = 10;
/** Milliseconds without a key before a filter reads the tree. */
const PAUSE_MS = 150;

export interface TreeView {
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

export function useTree(id: string): TreeView {
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
