import type { ComponentChildren, ComponentProps } from "preact";

type Given = "id" | "aria-label" | "aria-invalid" | "aria-describedby" | "disabled" | "onFocus";

interface Props<T extends string> extends Pick<ComponentProps<"select">, Given> {
  choices: readonly (readonly [T, string, ...unknown[]])[];
  value: T;
  onChoose: (choice: T) => void;
  /** Its name for tests. */
  testid?: string;
  /** Choices before the others. */
  children?: ComponentChildren;
}

/** A choice of one from a list that opens. */
export function Select<T extends string>(props: Props<T>) {
  const { choices, value, onChoose, testid, children, ...rest } = props;
  return (
    <select
      class="field"
      value={value}
      // Only the choices stand in it.
      onChange={(event) => onChoose(event.currentTarget.value as T)}
      data-testid={testid}
      {...rest}
    >
      {children}
      {choices.map(([choice, words]) => (
        <option key={choice} value={choice}>
          {words}
        </option>
      ))}
    </select>
  );
}
