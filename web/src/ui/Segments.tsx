/** A choice of few, all in sight. */
import { useId } from "preact/hooks";

interface Props<T extends string> {
  label?: string;
  "aria-labelledby"?: string;
  "aria-invalid"?: boolean;
  "aria-describedby"?: string | undefined;
  choices: readonly (readonly [T, string, ...unknown[]])[];
  value: T;
  /** Of each choice, for tests: `kind` makes `kind-once`. */
  testid: string;
  onChange: (value: T) => void;
}

export function Segments<T extends string>(props: Props<T>) {
  const { label, choices, value, testid, onChange, ...tied } = props;
  const name = useId();
  return (
    <div class="segments" role="radiogroup" aria-label={label} {...tied}>
      {choices.map(([choice, words]) => (
        <label key={choice}>
          <input
            type="radio"
            name={name}
            checked={value === choice}
            onChange={() => onChange(choice)}
            data-testid={`${testid}-${choice}`}
          />
          <span>{words}</span>
        </label>
      ))}
    </div>
  );
}
