import { useState } from "preact/hooks";
import { Icon } from "../../ui/Icon.tsx";
import { type ApprovalItemResponse, TEXT_MAX } from "./item.ts";

interface Props {
  item: ApprovalItemResponse;
  busy: boolean;
  /** @returns whether the text was taken; one that was not stays in its field. */
  onSend: (text: string) => Promise<boolean>;
}

export function TextAnswer({ item, busy, onSend }: Props) {
  const [text, setText] = useState("");
  const usable = text.trim() !== "" && !busy;
  const send = async () => {
    if (usable && (await onSend(text))) setText("");
  };
  const key = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void send();
  };
  const idle = item.kind === "idle";
  return (
    <form
      class="approval-text"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <textarea
        class="field"
        rows={2}
        maxLength={TEXT_MAX}
        value={text}
        placeholder={idle ? "What should it do next?" : "Or answer in your own words"}
        aria-label={idle ? `Next prompt for ${item.sessionName}` : `Your answer to ${item.sessionName}`}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={key}
        data-testid="approval-text"
      />
      <button
        type="submit"
        class="button primary"
        disabled={!usable}
        data-testid="approval-text-send"
        title="Send  Ctrl+Enter"
      >
        <Icon name="send" />
        <span class="sr-only">Send</span>
      </button>
    </form>
  );
}
