/** What is shown of the fleet, and how it is arranged. */
import { useState } from "preact/hooks";
import { Button } from "../../ui/Button.tsx";
import { Select } from "../../ui/Select.tsx";
import { shortenPath } from "../../lib/format.ts";
import { type Entry, GROUPINGS, STATE_GROUPS, type View } from "./rules.ts";
import { clearSelection, selecting } from "./selection.ts";

interface Props {
  entries: readonly Entry[];
  view: View;
  onChange: (part: Partial<View>) => void;
}

function Choice(props: {
  all: string;
  values: readonly string[];
  value: string;
  onChoose: (value: string) => void;
}) {
  const { all, values, value, onChoose } = props;
  const choices = [...new Set(values)].toSorted().map((each) => [each, shortenPath(each)] as const);
  if (choices.length < 2 && value === "") return null;
  return (
    <Select
      aria-label={all}
      choices={[["", all], ...choices]}
      value={value}
      onChoose={onChoose}
      testid={`fleet-filter-${all.split(" ")[1]}`}
    />
  );
}

export function Toolbar({ entries, view, onChange }: Props) {
  const [open, setOpen] = useState(false);
  return (
    <div class="fleet-tools" role="toolbar" aria-label="Sessions shown" data-testid="fleet-tools">
      <input
        class="field"
        type="search"
        placeholder="Filter by name, folder or state"
        aria-label="Filter sessions"
        value={view.words}
        onInput={(event) => onChange({ words: event.currentTarget.value })}
        data-testid="fleet-filter"
      />
      <Button small aria-expanded={open} onClick={() => setOpen(!open)} testid="fleet-more">
        Filters
      </Button>
      <div class="fleet-choices" data-open={open}>
        <Select
          aria-label="All states"
          choices={[["", "All states"] as const, ...STATE_GROUPS]}
          value={view.state}
          onChoose={(state) => onChange({ state })}
          testid="fleet-filter-states"
        />
        <Choice
          all="All folders"
          values={entries.map(({ session }) => session.workingDir)}
          value={view.folder}
          onChoose={(folder) => onChange({ folder })}
        />
        <Choice
          all="All agents"
          values={entries.map(({ agent }) => agent)}
          value={view.agent}
          onChoose={(agent) => onChange({ agent })}
        />
        <Select
          aria-label="Group by"
          choices={GROUPINGS.map(([id, name]) => [id, `By ${name.toLowerCase()}`] as const)}
          value={view.grouping}
          onChoose={(grouping) => onChange({ grouping })}
          testid="fleet-grouping"
        />
      </div>
      <Button
        small
        aria-pressed={selecting.value}
        onClick={() => (selecting.value ? clearSelection() : (selecting.value = true))}
        testid="fleet-select"
      >
        Select
      </Button>
    </div>
  );
}
