/** Something that is shown this once: a one-time password, a token. */
import { Button } from "./Button.tsx";
import { useLayoutEffect, useRef } from "preact/hooks";
import { copyText } from "./clipboard.ts";
import { Icon } from "./Icon.tsx";
import { showToast } from "../store/toasts.ts";

interface Props {
  title: string;
  secret: string;
  hint: string;
  onDone: () => void;
}

async function copy(secret: string): Promise<void> {
  if (await copyText(secret)) showToast("good", "Copied");
  else
    showToast(
      "bad",
      "Couldn't copy",
      "Your browser blocked access to the clipboard. Select the text instead.",
    );
}

export function Secret({ title, secret, hint, onDone }: Props) {
  const box = useRef<HTMLElement>(null);
  useLayoutEffect(() => box.current?.focus(), [secret]);
  return (
    <section class="secret" ref={box} tabIndex={-1} aria-label={title} data-testid="secret">
      <strong>{title}</strong>
      <span class="secret-row">
        <code data-testid="secret-text">{secret}</code>
        <Button primary onClick={() => void copy(secret)} testid="secret-copy">
          <Icon name="copy" size={16} /> Copy
        </Button>
      </span>
      <small>{hint}</small>
      <Button small onClick={onDone} testid="secret-done">
        I have saved it
      </Button>
    </section>
  );
}
