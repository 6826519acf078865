/** One container host: how containers are made by it, its image, and the containers of its cases. */
import { useEffect, useState } from "preact/hooks";
import { sentenceOf } from "../api/errors.ts";
import type { ContainerResponse, ContainerHostResponse } from "../api/types.ts";
import { onServerEvent } from "../stream/events.ts";
import { ask } from "../ui/ask.ts";
import { Icon } from "../ui/Icon.tsx";
import { Problem } from "../ui/Problem.tsx";
import { Box } from "./Box.tsx";
import { Build } from "./Build.tsx";
import { readContainers, removeContainerHost } from "./calls.ts";
import { HostForm } from "./HostForm.tsx";
import type { Page } from "./useContainers.ts";
import { DEFAULT_IMAGE, resourcesText } from "./words.ts";

interface Props {
  host: ContainerHostResponse;
  page: Page;
}

async function remove({ host, page }: Props): Promise<void> {
  const agreed = await ask({
    title: `Forget ${host.label}?`,
    text: "How containers are made by it is forgotten. Images stay with the engine. It is refused while a case uses it.",
    action: "Forget it",
    danger: true,
  });
  if (agreed !== undefined) await page.attempt(() => removeContainerHost(host.id));
}

/** Read again when a case comes or goes. */
function useBoxes(hostId: string) {
  const [boxes, setBoxes] = useState<readonly ContainerResponse[]>();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let alive = true;
    const look = () =>
      void readContainers(hostId).then(
        ({ containers }) => {
          if (!alive) return;
          setBoxes(containers);
          setProblem("");
        },
        (error: unknown) => alive && setProblem(sentenceOf(error)),
      );
    look();
    const end = onServerEvent("case:", look);
    return () => {
      alive = false;
      end();
    };
  }, [hostId]);
  return { boxes, problem };
}

function Boxes({ host }: { host: ContainerHostResponse }) {
  const { boxes, problem } = useBoxes(host.id);
  return (
    <>
      <Problem text={problem} testid="boxes-problem" />
      {boxes?.length === 0 && <p class="dim">No case has a container here.</p>}
      <ul class="box-list" aria-label={`Containers of ${host.label}`}>
        {boxes?.map((box) => (
          <li key={box.name}>
            <strong>{box.caseName}</strong>
            <Box caseName={box.caseName} known={box} />
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
            void page.attempt(async () => undefined);
          }}
        />
      </li>
    );
  return (
    <li class="record far-host" data-testid="box-host" data-host={host.label}>
      <span class="record-mark" data-tone="accent" aria-hidden="true">
        <Icon name="box" size={16} />
      </span>
      <div class="record-main">
        <span class="record-title">
          <strong>{host.label}</strong>
          <span class="tag">{host.engine}</span>
          {host.context && <span class="tag">{host.context}</span>}
        </span>
        <small class="far-address">{host.image}</small>
        <small>{resourcesText(host)}</small>
        <div class="far-actions">
          <button
            type="button"
            class="button small"
            aria-label={`Change ${host.label}`}
            disabled={page.busy}
            onClick={() => setEditing(true)}
            data-testid="box-host-edit"
          >
            Change
          </button>
          <button
            type="button"
            class="button small"
            aria-label={`Forget ${host.label}`}
            disabled={page.busy}
            onClick={() => void remove(props)}
            data-testid="box-host-remove"
          >
            Forget
          </button>
        </div>
        {host.image === DEFAULT_IMAGE && <Build host={host} page={page} />}
        <Boxes host={host} />
      </div>
    </li>
  );
}
