import { Icon, type IconName } from "./Icon.tsx";

interface Props {
  icon: IconName;
  label: string;
  /** Shown after the label in the hover text. */
  keys?: string | undefined;
  onClick: (event: MouseEvent) => void;
  testid?: string;
  class?: string;
  pressed?: boolean;
  disabled?: boolean;
}

export function IconButton(props: Props) {
  const { icon, label, keys, onClick, testid, pressed, disabled } = props;
  return (
    <button
      type="button"
      class={`icon-button ${props.class ?? ""}`}
      aria-label={label}
      aria-pressed={pressed}
      title={keys ? `${label}  ${keys}` : label}
      data-testid={testid}
      disabled={disabled}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}
