import { useId } from "preact/hooks";

interface Props<T extends string> {
  label: string;
  hint?: string;
  choices: readonly (readonly [T, string])[];
  value: T;
  testid: string;
  onChange: (value: T) => void;
}

/** A choice of few, all in sight. */
export function Segments<T extends string>({ label, hint, choices, value, testid, onChange }: Props<T>) {
  const id = useId();
  return (
    <div class="labelled form-row">
      <span id={id}>
        {label} {hint && <small>{hint}</small>}
      </span>
      <div class="segments" role="radiogroup" aria-labelledby={id}>
        {choices.map(([choice, word]) => (
          <label key={choice}>
            <input
              type="radio"
              name={`${id}-choice`}
              checked={value === choice}
              onChange={() => onChange(choice)}
              data-testid={`${testid}-${choice}`}
            />
            <span>{word}</span>
          </label>
        ))}
      </div>
    </div>
  );
}
