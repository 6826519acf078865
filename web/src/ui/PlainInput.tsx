import type { ComponentProps } from "preact";

type Given =
  | "value"
  | "class"
  | "placeholder"
  | "maxLength"
  | "inputMode"
  | "readOnly"
  | "onKeyDown"
  | "autocomplete"
  | "aria-label"
  | "aria-invalid"
  | "aria-describedby";

interface Props extends Pick<ComponentProps<"input">, Given> {
  onText: (text: string) => void;
  /** Its name for tests. */
  testid?: string;
}

/** A field for a line that no browser and no phone corrects. */
export function PlainInput({ onText, testid, ...rest }: Props) {
  return (
    <input
      class="field"
      autocomplete="off"
      autocapitalize="off"
      spellcheck={false}
      onInput={(event) => onText(event.currentTarget.value)}
      data-testid={testid}
      {...rest}
    />
  );
}
