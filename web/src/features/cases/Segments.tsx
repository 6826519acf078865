/** One of a few ways, as radio buttons in a row. */
import { useId } from "preact/hooks";

interface Props<T extends string> {
  label: string;
  choices: readonly (readonly [T, string])[];
  chosen: T;
  onChoose: (choice: T) => void;
}

export function Segments<T extends string>({ label, choices, chosen, onChoose }: Props<T>) {
  const name = useId();
  return (
    <div class="segments" role="radiogroup" aria-label={label}>
      {choices.map(([value, words]) => (
        <label key={value} data-testid={`way-${value}`}>
          <input
            type="radio"
            name={name}
            value={value}
            checked={chosen === value}
            onChange={() => onChoose(value)}
          />
          <span>{words}</span>
        </label>
      ))}
    </div>
  );
}
