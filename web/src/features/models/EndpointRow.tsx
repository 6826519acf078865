/** One endpoint: where it is, what it offers, and what can be done about it. */
import { useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import type { Endpoint } from "../../api/types.ts";
import { formatAgo } from "../../lib/ago.ts";
import { askQuestion } from "../../ui/ask.ts";
import { Icon } from "../../ui/Icon.tsx";
import { useNow } from "../../ui/useNow.ts";
import { EndpointForm } from "./EndpointForm.tsx";
import { discover, type Endpoints } from "./useEndpoints.ts";
import { formatModel, describeModels } from "./texts.ts";

interface Props {
  endpoint: Endpoint;
  page: Endpoints;
  /** Changes are for administrators. */
  mayChange: boolean;
}

async function remove({ endpoint, page }: Props): Promise<void> {
  const agreed = await askQuestion({
    title: `Remove ${endpoint.label}?`,
    text: "This deletes its address and key. You can't start new sessions with its models.",
    action: "Remove",
    danger: true,
  });
  if (agreed !== undefined)
    await page.attempt(() => api.delete("/api/model-endpoints/{id}", { path: { id: endpoint.id } }));
}

function Actions(props: Props & { onEdit: () => void }) {
  const { endpoint, page, onEdit } = props;
  const action = (name: string, testid: string, act: () => void) => (
    <button
      type="button"
      class="button small"
      aria-label={`${name} ${endpoint.label}`}
      disabled={page.busy}
      onClick={act}
      data-testid={testid}
    >
      {name}
    </button>
  );
  return (
    <span class="endpoint-actions">
      {action("Test", "endpoint-test", () => void page.attempt(() => discover(endpoint.id)))}
      {action("Edit", "endpoint-edit", onEdit)}
      {action("Remove", "endpoint-remove", () => void remove(props))}
    </span>
  );
}

function Found({ endpoint }: { endpoint: Endpoint }) {
  if (endpoint.models.length === 0) return null;
  return (
    <ul class="endpoint-models" aria-label={`Models of ${endpoint.label}`}>
      {endpoint.models.map((model) => (
        <li key={model.id} data-first={model.id === endpoint.defaultModelId}>
          <bdi>{formatModel(model)}</bdi>
        </li>
      ))}
    </ul>
  );
}

export function EndpointRow(props: Props) {
  const { endpoint, page, mayChange } = props;
  const now = useNow();
  const [editing, setEditing] = useState(false);
  if (editing)
    return (
      <li>
        <EndpointForm
          endpoint={endpoint}
          onClose={() => setEditing(false)}
          onKept={(id) => {
            setEditing(false);
            void page.attempt(() => discover(id));
          }}
        />
      </li>
    );
  return (
    <li class="record" data-testid="endpoint" data-endpoint={endpoint.label}>
      <span
        class="record-mark"
        data-tone={endpoint.models.length > 0 ? "accent" : undefined}
        aria-hidden="true"
      >
        <Icon name="bulb" size={16} />
      </span>
      <div class="record-main">
        <span class="record-title">
          <strong>{endpoint.label}</strong>
          <span class="tag" data-tone={endpoint.models.length > 0 ? "accent" : "plain"}>
            {describeModels(endpoint)}
          </span>
          {endpoint.apiKeySet && <span class="tag">key saved</span>}
        </span>
        <small class="endpoint-url">
          {endpoint.baseUrl}
          {endpoint.lastDiscoveredAt !== null && ` · checked ${formatAgo(endpoint.lastDiscoveredAt, now)}`}
        </small>
        <Found endpoint={endpoint} />
        {mayChange && <Actions {...props} onEdit={() => setEditing(true)} />}
      </div>
    </li>
  );
}
