/** Finds text in the lines that this page holds; the whole history is one button away. */
import type { ISearchOptions, SearchAddon } from "@xterm/addon-search";
import type { Terminal } from "@xterm/xterm";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { darkSystem, isDark, prefs } from "../../store/prefs.ts";
import { showError } from "../../store/toasts.ts";
import { IconButton } from "../../ui/IconButton.tsx";
import { currentView, focusActiveTerminal } from "./current.ts";
import { historyOpen, searchOpen } from "../../ui/pages/openpanels.ts";
import { chosenPalette } from "./theme/storedpalettes.ts";
import { isDarkGround, matchesOf } from "./theme/themes.ts";
import type { TerminalView } from "./view.ts";

interface Found {
  at: number;
  count: number;
}

function wordsOf({ at, count }: Found, query: string): string {
  if (query === "") return "";
  if (count === 0) return "no matches";
  return at < 0 ? `${count}+` : `${at + 1} of ${count}`;
}

const searches = new WeakMap<Terminal, SearchAddon>();

/** @returns the search of a terminal, which goes with it. Its code comes with the first one. */
async function searchIn(terminal: Terminal): Promise<SearchAddon> {
  const { SearchAddon } = await import("@xterm/addon-search");
  const search = searches.get(terminal) ?? new SearchAddon({ highlightLimit: 1000 });
  if (!searches.has(terminal)) terminal.loadAddon(search);
  searches.set(terminal, search);
  return search;
}

function useSearch(view: TerminalView | undefined) {
  const [search, setSearch] = useState<SearchAddon>();
  const [query, setQuery] = useState("");
  const [exact, setExact] = useState(false);
  const [found, setFound] = useState<Found>({ at: -1, count: 0 });
  const dark = isDarkGround(chosenPalette.value, isDark(prefs.value.theme, darkSystem.value));
  useLayoutEffect(() => {
    let alive = true;
    if (view)
      searchIn(view.screen.terminal).then(
        (loaded) => alive && setSearch(loaded),
        (error: unknown) => showError("Couldn't load the search", error),
      );
    return () => {
      alive = false;
    };
  }, [view]);
  // At once: what is written before the next frame is answered, too.
  useLayoutEffect(() => {
    const seen = search?.onDidChangeResults(({ resultIndex, resultCount }) =>
      setFound({ at: resultIndex, count: resultCount }),
    );
    return () => {
      seen?.dispose();
      search?.clearDecorations();
    };
  }, [search]);
  const options = (incremental: boolean): ISearchOptions => ({
    caseSensitive: exact,
    incremental,
    decorations: matchesOf(dark),
  });
  const find = (back: boolean, text = query, incremental = false) => {
    if (text === "") search?.clearDecorations();
    else if (back) search?.findPrevious(text, options(incremental));
    else search?.findNext(text, options(incremental));
  };
  useLayoutEffect(() => find(true), [exact]);
  useLayoutEffect(() => {
    // The addon keeps the colours of matches that it has found before.
    search?.clearDecorations();
    find(true, query, true);
  }, [dark, search]);
  // The newest first, as somebody who looks for a moment ago wants it.
  const write = (text: string) => {
    setQuery(text);
    find(true, text, true);
  };
  return { query, write, exact, setExact, found, find };
}

export function SearchBar() {
  const view = currentView.value;
  const field = useRef<HTMLInputElement>(null);
  const { query, write, exact, setExact, found, find } = useSearch(view);
  useLayoutEffect(() => field.current?.focus(), []);
  const close = () => {
    searchOpen.value = false;
    focusActiveTerminal();
  };
  const key = (event: KeyboardEvent) => {
    if (event.key === "Escape") close();
    else if (event.key === "Enter") find(!event.shiftKey);
    else return;
    event.preventDefault();
  };
  const whole = () => {
    if (view) historyOpen.value = { sessionId: view.sessionId, query };
  };
  return (
    <div class="search" role="search" data-testid="search">
      <input
        ref={field}
        class="field"
        type="search"
        placeholder="Search the terminal"
        value={query}
        aria-label="Search the terminal"
        onInput={(event) => write(event.currentTarget.value)}
        onKeyDown={key}
      />
      <output class="search-count" aria-live="polite">
        {wordsOf(found, query)}
      </output>
      <button
        type="button"
        class="toggle"
        aria-pressed={exact}
        title="Match case"
        onClick={() => setExact(!exact)}
      >
        Aa
      </button>
      <IconButton icon="up" label="Previous match" keys="Enter" onClick={() => find(true)} />
      <IconButton icon="down" label="Next match" keys="Shift+Enter" onClick={() => find(false)} />
      <button type="button" class="button small" onClick={whole} data-testid="search-history">
        Full history
      </button>
      <IconButton icon="close" label="Close search" keys="Escape" onClick={close} />
    </div>
  );
}
