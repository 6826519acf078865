/** Engines that make containers for cases, and those containers. */
import { Button } from "../../ui/Button.tsx";
import { useState, useEffect, useRef } from "preact/hooks";
import { api } from "../../api/client.ts";
import { formatError } from "../../api/errors.ts";
import type { ContainerHostResponse } from "../../api/types.ts";
import { resource, useResource } from "../../store/resource.ts";
import { askQuestion } from "../../ui/ask.ts";
import { Icon } from "../../ui/Icon.tsx";
import { Problem } from "../../ui/Problem.tsx";
import { ContainerCard } from "./ContainerCard.tsx";
import { HostForm } from "./HostForm.tsx";
import { type ContainersState, readBuildLog, useContainers } from "./useContainers.ts";
import { DEFAULT_IMAGE, resourcesText, buildText } from "./texts.ts";
import { CoalescedRead } from "../../lib/coalescedread.ts";
import { ListPage } from "../../ui/ListPage.tsx";
import "../hosts/hosts.css";
import "./containers.css";

interface HostRowProps {
  host: ContainerHostResponse;
  page: ContainersState;
}

async function remove({ host, page }: HostRowProps): Promise<void> {
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

function HostRow(props: HostRowProps) {
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
          <Button
            small
            label={`Edit ${host.label}`}
            disabled={page.busy}
            onClick={() => setEditing(true)}
            testid="container-host-edit"
          >
            Edit
          </Button>
          <Button
            small
            label={`Remove ${host.label}`}
            disabled={page.busy}
            onClick={() => void remove(props)}
            testid="container-host-remove"
          >
            Remove
          </Button>
        </div>
        {host.image === DEFAULT_IMAGE && <Build host={host} page={page} />}
        <Boxes host={host} />
      </div>
    </li>
  );
}

/** @param turn read again whenever it is another one. */
function Log({ id, turn }: { id: string; turn: string }) {
  const [lines, setLines] = useState<readonly string[]>();
  const [problem, setProblem] = useState("");
  const box = useRef<HTMLPreElement>(null);
  const reads = useRef<CoalescedRead | undefined>(undefined);
  useEffect(() => {
    reads.current ??= new CoalescedRead(async (outdated) => {
      try {
        const found = await readBuildLog(id);
        if (!outdated()) setLines(found.lines);
      } catch (error) {
        setProblem(formatError(error));
      }
    });
    void reads.current.now();
  }, [id, turn]);
  useEffect(() => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines]);
  if (problem !== "") return <p class="field-problem">{problem}</p>;
  return (
    <pre
      ref={box}
      class="example container-log"
      tabIndex={0}
      aria-label="Build output"
      data-testid="build-log"
    >
      {lines === undefined
        ? "Loading…"
        : lines.length === 0
          ? "No builds since the server started."
          : lines.join("\n")}
    </pre>
  );
}

function Build({ host, page }: { host: ContainerHostResponse; page: ContainersState }) {
  const [open, setOpen] = useState(false);
  const running = page.builds[host.id];
  const ended = page.ends[host.id];
  return (
    <div class="container-build">
      {running && (
        <div class="container-progress" data-testid="build-progress">
          <progress
            max={100}
            aria-label={`Building the image for ${host.label}`}
            {...(running.percent !== null && { value: running.percent })}
          />
          <span role="status">{buildText({ ...running, image: running.image || host.image })}</span>
          {running.line !== "" && !open && <code class="container-line">{running.line}</code>}
        </div>
      )}
      {!running && ended !== undefined && (
        <p class="host-found" data-ok={ended === ""} role="status" data-testid="build-end">
          <Icon name={ended === "" ? "check" : "alert"} size={15} />
          <span>{ended === "" ? "Image built." : ended}</span>
        </p>
      )}
      {open && <Log id={host.id} turn={`${running?.line} ${running?.percent} ${ended}`} />}
      <div class="host-actions">
        {running ? (
          <Button
            small
            label={`Cancel the build for ${host.label}`}
            onClick={() => page.cancel(host.id)}
            testid="build-cancel"
          >
            Cancel
          </Button>
        ) : (
          <Button
            small
            label={`Build image for ${host.label}`}
            onClick={() => page.build(host.id)}
            testid="build-start"
          >
            Build image
          </Button>
        )}
        <Button
          small
          aria-expanded={open}
          label={`Log of the build for ${host.label}`}
          onClick={() => setOpen(!open)}
          testid="build-log-open"
        >
          Log
        </Button>
      </div>
    </div>
  );
}

export function ContainersPage() {
  const page = useContainers();
  const form = (close: () => void) => {
    const kept = () => {
      close();
      void page.attempt();
    };
    return <HostForm onClose={close} onKept={kept} />;
  };
  return (
    <ListPage
      testid="containers"
      class="host-page"
      summary="Container engines that can run sessions."
      add={{ label: "New host", testid: "container-host-new", form }}
      problem={page.problem}
      busy={page.busy}
      items={page.all}
      empty="No container hosts yet. A container host is podman or docker on the server, with an image and limits."
      row={(host) => <HostRow key={host.id} host={host} page={page} />}
    />
  );
}
