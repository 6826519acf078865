/** Files of the workspace that fit what was written behind `@`. */
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { readTree } from "../files/requests.ts";
import { searchTree, ROOT } from "../files/tree.ts";
import type { Entry, Tree } from "../files/state.ts";
import { Icon } from "../../ui/Icon.tsx";
import { showError } from "../../store/toasts.ts";
import { type Mention, mention, mentionKey } from "./mention.ts";
import "./mentions.css";

const SHOWN = 8;
const DEEP = 10;

/** Read once for each time that the list opens. */
function useFiles(id: string): readonly Entry[] | undefined {
  const [tree, setTree] = useState<Tree>();
  useEffect(() => {
    const end = new AbortController();
    readTree(id, ROOT, { depth: DEEP, hidden: false, signal: end.signal }).then(setTree, (error: unknown) =>
      showError("Couldn't list the files", error),
    );
    return () => end.abort();
  }, [id]);
  return tree?.tree;
}

interface Props {
  open: Mention;
  onChoose: (mention: Mention, path: string) => void;
}

export function Mentions({ open, onChoose }: Props) {
  const files = useFiles(open.sessionId);
  // With other words the choice begins anew.
  const [chosen, setChosen] = useState({ words: "", at: 0 });
  const fitting = files ? searchTree(files, open.words, SHOWN) : [];
  const index = chosen.words === open.words ? Math.min(chosen.at, fitting.length - 1) : 0;
  const take = (entry: Entry | undefined) => entry !== undefined && (onChoose(open, entry.path), true);
  // Before the next key, which may come at once.
  useLayoutEffect(() => {
    const step = (by: number) => {
      setChosen({ words: open.words, at: (index + by + fitting.length) % fitting.length });
      return true;
    };
    mentionKey.value = (key) => {
      if (key === "Escape") return ((mention.value = undefined), true);
      if (fitting.length === 0) return false;
      if (key === "ArrowDown") return step(1);
      if (key === "ArrowUp") return step(-1);
      return (key === "Enter" || key === "Tab") && take(fitting[index]);
    };
    return () => void (mentionKey.value = undefined);
  });
  if (fitting.length === 0) return null;
  return (
    <>
      <p class="sr-only" role="status">
        {fitting[index]?.path}
      </p>
      <ul class="mentions" role="listbox" aria-label="Files" data-testid="mentions">
        {fitting.map((entry, n) => (
          <li
            key={entry.path}
            role="option"
            aria-selected={n === index}
            data-testid="mention"
            // The field keeps the focus.
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => take(entry)}
          >
            <Icon name="log" size={14} />
            <bdi>{entry.path}</bdi>
          </li>
        ))}
      </ul>
    </>
  );
}
