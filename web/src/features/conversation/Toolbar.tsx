/** Find, filter and export. */
import { useState } from "preact/hooks";
import { showError } from "../../store/toasts.ts";
import { IconButton } from "../../ui/IconButton.tsx";
import { type MenuItem, menuUnder } from "../../ui/menu.ts";
import { Select } from "../../ui/Select.tsx";
import { useSurroundings } from "./context.ts";
import { type Filter, toMarkdown } from "./items.ts";

const FILTERS = [
  ["all", "Everything"],
  ["talk", "Prompts and answers"],
  ["tools", "Tools"],
  ["errors", "Errors"],
] as const;

export interface Search {
  words: string;
  /** Ids of what was found, and the place among them. */
  found: readonly string[];
  at: number;
}

interface Props {
  title: string;
  filter: Filter;
  onFilter: (filter: Filter) => void;
  search: Search;
  onSearch: (words: string) => void;
  onStep: (step: 1 | -1) => void;
}

function save(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 0);
}

function useExport(title: string): { busy: boolean; items: MenuItem[] } {
  const { conversation } = useSurroundings();
  const [busy, setBusy] = useState(false);
  const write = async (end: "md" | "json") => {
    setBusy(true);
    try {
      await conversation.loadAll();
      const items = conversation.items.peek();
      const name = `${title.replace(/[^\p{L}\p{N}._-]+/gu, "-").slice(0, 60) || "conversation"}.${end}`;
      if (end === "md") save(name, "text/markdown", toMarkdown(items));
      else save(name, "application/json", JSON.stringify(items, undefined, 1));
    } catch (error) {
      showError("Couldn't export the conversation", error);
    }
    setBusy(false);
  };
  return {
    busy,
    items: [
      { label: "Export as Markdown", icon: "download", act: () => void write("md") },
      { label: "Export as JSON", icon: "download", act: () => void write("json") },
    ],
  };
}

function describeFound({ words, found, at }: Search): string {
  if (words.trim() === "") return "";
  return found.length === 0 ? "No matches" : `${at + 1} of ${found.length}`;
}

export function Toolbar({ title, filter, onFilter, search, onSearch, onStep }: Props) {
  const { conversation } = useSurroundings();
  const exported = useExport(title);
  const more: MenuItem[] = [
    ...(conversation.hasOlder.value
      ? [
          {
            label: "Load the whole conversation",
            icon: "refresh",
            act: () => void conversation.loadAll(),
          } as const,
        ]
      : []),
    ...exported.items,
  ];
  return (
    <div class="talk-tools" role="toolbar" aria-label="Conversation">
      <input
        class="field"
        type="search"
        placeholder="Find"
        aria-label="Find in the conversation"
        value={search.words}
        maxLength={200}
        onInput={(event) => onSearch(event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Enter" && onStep(event.shiftKey ? -1 : 1)}
        data-testid="conversation-find"
      />
      <small role="status" data-testid="conversation-found">
        {describeFound(search)}
      </small>
      <Select
        aria-label="Show"
        choices={FILTERS}
        value={filter}
        onChoose={onFilter}
        testid="conversation-filter"
      />
      <IconButton
        icon="more"
        label="More"
        disabled={exported.busy}
        onClick={(event) => menuUnder("Conversation", more, event.currentTarget as Element)}
        testid="conversation-more"
      />
    </div>
  );
}
