/** Pages of other servers beside the sessions. */
import { Button } from "../../ui/Button.tsx";
import type { WebView } from "../../api/types.ts";
import { useResource } from "../../store/resource.ts";
import { Field } from "../settings/fields.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { useForm } from "../../ui/useForm.ts";
import { Problem } from "../../ui/Problem.tsx";
import "../../ui/styles/records.css";
import { removeTab, createTab, showWebTab, tabs } from "./actions.ts";

function NewTab() {
  const { draft, set, submit, problem, busy } = useForm({ url: "", name: "" }, ({ url, name }) =>
    createTab(name.trim(), url.trim()),
  );
  return (
    <form class="sheet" onSubmit={(event) => void submit(event)} aria-label="New web tab">
      <Field label="Address" hint="as seen from the server">
        <input
          class="field"
          type="url"
          required
          placeholder="http://localhost:5173/"
          value={draft.url}
          onInput={(event) => set({ url: event.currentTarget.value })}
          data-testid="webtab-url"
        />
      </Field>
      <Field label="Name" hint="optional">
        <input
          class="field"
          maxLength={60}
          value={draft.name}
          autocomplete="off"
          onInput={(event) => set({ name: event.currentTarget.value })}
          data-testid="webtab-name"
        />
      </Field>
      <Problem text={problem} testid="webtab-refused" />
      <div class="sheet-foot">
        <small>Sandboxed: the page can't access tservice.</small>
        <Button submit primary disabled={busy} testid="webtab-keep">
          Open
        </Button>
      </div>
    </form>
  );
}

function Row({ tab }: { tab: WebView }) {
  return (
    <li class="record" data-testid="webtab-row">
      <span class="record-mark" aria-hidden="true">
        <Icon name="screen" size={16} />
      </span>
      <div class="record-main">
        <span class="record-title">
          <strong>{tab.name}</strong>
        </span>
        <small>{tab.url}</small>
      </div>
      <span class="setting-buttons">
        <Button small label={`Open ${tab.name}`} onClick={() => showWebTab(tab)}>
          Open
        </Button>
        <Button small label={`Remove ${tab.name}`} onClick={() => void removeTab(tab)} testid="webtab-forget">
          Remove
        </Button>
      </span>
    </li>
  );
}

export function WebTabsPage() {
  const list = useResource(tabs);
  return (
    <div class="records-page" data-testid="webtabs">
      <NewTab />
      <Problem text={tabs.trouble.value} />
      <ul class="records">
        {list?.map((tab) => (
          <Row key={tab.id} tab={tab} />
        ))}
      </ul>
    </div>
  );
}
