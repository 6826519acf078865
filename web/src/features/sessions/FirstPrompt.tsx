/** What an agent is to do and with what, said before it starts. */
import type { CliItem } from "../../api/types.ts";
import { toTitle } from "../../api/errors.ts";
import { PlainInput } from "../../ui/PlainInput.tsx";
import type { Draft } from "./newsession.ts";

interface Props {
  prompt: string;
  onPrompt: (prompt: string) => void;
}

/** The agent gets it as soon as it can take a prompt. */
export function FirstPrompt({ prompt, onPrompt }: Props) {
  return (
    <label class="labelled first-prompt">
      <span class="sr-only">What should it do? (optional)</span>
      <textarea
        class="field plain-text"
        rows={3}
        value={prompt}
        placeholder="What should it do?"
        onInput={(event) => onPrompt(event.currentTarget.value)}
        data-testid="new-prompt"
      />
    </label>
  );
}

interface ParamProps {
  name: string;
  words: readonly string[];
  value: string;
  onChange: (value: string) => void;
}

function Param({ name, words, value, onChange }: ParamProps) {
  const field = { class: "field", value, "data-testid": `new-param-${name}` };
  return (
    <label class="labelled">
      {toTitle(name)}
      {words.length === 0 ? (
        <input
          {...field}
          placeholder="agent default"
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      ) : (
        <select {...field} onChange={(event) => onChange(event.currentTarget.value)}>
          <option value="">agent default</option>
          {words.map((word) => (
            <option key={word}>{word}</option>
          ))}
        </select>
      )}
    </label>
  );
}

interface MoreProps {
  /** Undefined for a shell. */
  agent: CliItem | undefined;
  draft: Draft;
  onChange: (part: Partial<Draft>) => void;
}

/** Model, effort, what it may do by itself: whatever its entry takes; and a name. */
export function More({ agent, draft, onChange }: MoreProps) {
  const offered = Object.entries(agent?.params ?? {});
  const params = draft.params ?? {};
  return (
    <details class="new-more">
      <summary data-testid="new-more">
        {[...offered.map(([name]) => toTitle(name)), "Name"].join(", ")}
      </summary>
      <div class="new-params">
        {offered.map(([name, words]) => (
          <Param
            key={name}
            name={name}
            words={words}
            value={params[name] ?? ""}
            onChange={(value) => onChange({ params: { ...params, [name]: value } })}
          />
        ))}
        <label class="labelled">
          Name
          <PlainInput
            value={draft.name}
            placeholder="named automatically"
            onText={(name) => onChange({ name })}
            testid="new-name"
          />
        </label>
      </div>
    </details>
  );
}
