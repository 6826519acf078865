import type { ComponentProps } from "preact";

interface Props extends ComponentProps<"button"> {
  /** Beside others in a row. */
  small?: boolean;
  /** The one way on. */
  primary?: boolean;
  danger?: boolean;
  /** It sends the form that it is in. */
  submit?: boolean;
  /** What it does, where its text does not say it of what. */
  label?: string | undefined;
  /** Its name for tests. */
  testid?: string;
}

export function Button({ small, primary, danger, submit, label, testid, ...rest }: Props) {
  const kind = `${small ? " small" : ""}${primary ? " primary" : ""}${danger ? " danger" : ""}`;
  return (
    <button
      type={submit ? "submit" : "button"}
      class={`button${kind}`}
      aria-label={label}
      data-testid={testid}
      {...rest}
    />
  );
}
