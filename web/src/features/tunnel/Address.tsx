import { copyText } from "../../ui/clipboard.ts";
import { IconButton } from "../../ui/IconButton.tsx";
import { showToast } from "../../store/toasts.ts";

async function copy(url: string): Promise<void> {
  if (await copyText(url)) showToast("good", "Copied");
  else
    showToast(
      "bad",
      "Couldn't copy",
      "Your browser blocked access to the clipboard. Select the text instead.",
    );
}

interface Props {
  label: string;
  url: string;
  testid: string;
}

/** An address to read, select and copy. */
export function Address({ label, url, testid }: Props) {
  return (
    <div class="qr-address">
      <small>{label}</small>
      <span>
        <code data-testid={testid} title={url}>
          {url}
        </code>
        <IconButton
          icon="copy"
          label={`Copy ${label.toLowerCase()}`}
          testid={`${testid}-copy`}
          onClick={() => void copy(url)}
        />
      </span>
    </div>
  );
}
