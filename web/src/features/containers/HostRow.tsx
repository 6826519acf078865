/** One container host: how containers are made by it, its image, and the containers of its cases. */
import { useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { formatError } from "../../api/errors.ts";
import type { ContainerHostResponse } from "../../api/types.ts";
import { resource, useResource } from "../../store/resource.ts";
import { askQuestion } from "../../ui/ask.ts";
import { Icon } from "../../ui/Icon.tsx";
import { Problem } from "../../ui/Problem.tsx";
import { ContainerCard } from "./ContainerCard.tsx";
import { Build } from "./Build.tsx";
import { HostForm } from "./HostForm.tsx";
import type { ContainersState } from "./useContainers.ts";
import { DEFAULT_IMAGE, resourcesText } from "./texts.ts";

interface Props {
  host: ContainerHostResponse;
  page: ContainersState;
}

async function remove({ host, page }: Props): Promise<void> {
  const agreed = await askQuestion({
    title: `Remove ${host.label}?`,
    text: "This removes the container host and its settings. The engine keeps its images. You can't remove it while a workspace uses it.",
    action: "Remove",
    danger: true,
  });
  if (agreed !== undefined)
    await page.attempt(() => api.delete("/api/container-hosts/{id}", { path: { id: host.id } }));
}

const readContainers = async (id: string) =>
  (await api.get("/api/container-hosts/{id}/containers", { path: { id } })).containers;

function Boxes({ host }: { host: ContainerHostResponse }) {
  const [list] = useState(() => resource(() => readContainers(host.id), ["case:"], { failed: formatError }));
  const boxes = useResource(list);
  return (
    <>
      <Problem text={list.trouble.value} testid="containers-problem" />
      {boxes?.length === 0 && <p class="dim">No workspaces use this host.</p>}
      <ul class="container-list" aria-label={`Containers of ${host.label}`}>
        {boxes?.map((box) => (
          <li key={box.name}>
            <strong>{box.caseName}</strong>
            <ContainerCard caseName={box.caseName} known={box} />
          </li>
        ))}
      </ul>
    </>
  );
}

export function HostRow(props: Props) {
  const { host, page } = props;
  const [editing, setEditing] = useState(false);
  if (editing)
    return (
      <li>
        <HostForm
          host={host}
          onClose={() => setEditing(false)}
          onKept={() => {
            setEditing(false);
            void page.attempt();
          }}
        />
      </li>
    );
  return (
    <li class="record host-row" data-testid="container-host" data-host={host.label}>
      <span class="record-mark" data-tone="accent" aria-hidden="true">
        <Icon name="box" size={16} />
      </span>
      <div class="record-main">
        <span class="record-title">
          <strong>{host.label}</strong>
          <span class="tag">{host.engine}</span>
          {host.context && <span class="tag">{host.context}</span>}
        </span>
        <small class="host-address">{host.image}</small>
        <small>{resourcesText(host)}</small>
        <div class="host-actions">
          <button
            type="button"
            class="button small"
            aria-label={`Edit ${host.label}`}
            disabled={page.busy}
            onClick={() => setEditing(true)}
            data-testid="container-host-edit"
          >
            {" "}
            Edit
          </button>
          <button
            type="button"
            class="button small"
            aria-label={`Remove ${host.label}`}
            disabled={page.busy}
            onClick={() => void remove(props)}
            data-testid="container-host-remove"
          >
            {" "}
            Remove
          </button>
        </div>
        {host.image === DEFAULT_IMAGE && <Build host={host} page={page} />}
        <Boxes host={host} />
      </div>
    </li>
  );
}
