/** A new case whose sessions run elsewhere: on an SSH host, or in a container. */
import { api } from "../../api/client.ts";
import type { CaseEnvelope, CaseResponse } from "../../api/types.ts";
import { PlainInput } from "../../ui/PlainInput.tsx";
import { Button } from "../../ui/Button.tsx";
import { useState } from "preact/hooks";
import { formatError } from "../../api/errors.ts";
import { openPage } from "../../ui/pages/registry.ts";
import { newSessionOpen } from "../../ui/pages/openpanels.ts";
import { useRead } from "../../store/resource.ts";
import { Problem } from "../../ui/Problem.tsx";
import { BrowsePane } from "./BrowsePane.tsx";
import { suggestCaseName, validateCaseName } from "./rules.ts";
import { Segments } from "./Segments.tsx";

/** A machine, or an engine that makes containers. */
export interface CaseHost {
  kind: "remote" | "container";
  id: string;
  label: string;
  /** The service can make a folder of its own for a case of this one. */
  makesFolders: boolean;
}

/** The host of containers whose cases need no folder that is there. */
const DEFAULT_HOST = "default";

export interface CaseDraft {
  host: CaseHost;
  folder: "there" | "new";
  path: string;
  /** Absent: made from the folder's. */
  name: string | undefined;
}

/** Two hosts of different kinds may have the same id. */
export const getHostKey = ({ kind, id }: CaseHost): string => `${kind} ${id}`;

async function readCaseHosts(): Promise<CaseHost[]> {
  const [remote, containers] = await Promise.all([
    api.get("/api/remote-hosts"),
    api.get("/api/container-hosts"),
  ]);
  return [
    ...remote.map(({ id, label }) => ({ kind: "remote" as const, id, label, makesFolders: false })),
    ...containers.map(({ id, label }) => ({
      kind: "container" as const,
      id,
      label,
      makesFolders: id === DEFAULT_HOST,
    })),
  ];
}

/** Whether a folder has to be named. */
const needsPath = ({ host, folder }: CaseDraft): boolean => host.kind === "remote" || folder === "there";

export const isComplete = (wish: CaseDraft): boolean =>
  (wish.name ?? "") !== "" && (!needsPath(wish) || wish.path.trim() !== "");

function createCaseOnHost(wish: CaseDraft & { name: string }): Promise<CaseEnvelope> {
  const { host, name } = wish;
  const path = wish.path.trim();
  const hostId = host.id;
  if (host.kind === "remote")
    return api.post("/api/cases/remote-link", { body: { name, hostId, remotePath: path } });
  return needsPath(wish)
    ? api.post("/api/cases/container-link", { body: { name, hostId, workspacePath: path } })
    : api.post("/api/cases/container-create", { body: { name } });
}

interface Props {
  cases: readonly CaseResponse[];
  onMade: (made: CaseResponse) => void;
  /** Absent: whatever it stands in closes by itself. */
  onClose?: () => void;
}

const FOLDERS = [
  ["there", "Existing folder"],
  ["new", "New folder"],
] as const;

function show(page: string): void {
  newSessionOpen.value = false;
  openPage.value = page;
}

function NoHosts() {
  return (
    <>
      <p class="picker-none">Sessions can run on remote hosts and in containers. Add one first.</p>
      <div class="case-buttons">
        <Button small onClick={() => show("hosts")}>
          Remote hosts
        </Button>
        <Button small onClick={() => show("containers")}>
          Containers
        </Button>
      </div>
    </>
  );
}

function HostChoice({
  hosts,
  host,
  onChoose,
}: {
  hosts: readonly CaseHost[];
  host: CaseHost;
  onChoose: (host: CaseHost) => void;
}) {
  const group = (kind: CaseHost["kind"], label: string) => {
    const found = hosts.filter((each) => each.kind === kind);
    if (found.length === 0) return null;
    return (
      <optgroup label={label}>
        {found.map((each) => (
          <option key={getHostKey(each)} value={getHostKey(each)}>
            {each.label}
          </option>
        ))}
      </optgroup>
    );
  };
  return (
    <label class="labelled">
      <span>Where</span>
      <select
        class="field"
        value={getHostKey(host)}
        onChange={(event) => {
          const found = hosts.find((each) => getHostKey(each) === event.currentTarget.value);
          if (found) onChoose(found);
        }}
        data-testid="case-host-where"
      >
        {group("remote", "On a remote host")}
        {group("container", "In a container")}
      </select>
    </label>
  );
}

interface FolderProps {
  wish: CaseDraft;
  set: (part: Partial<CaseDraft>) => void;
  onMade: (made: CaseResponse) => void;
}

function Folder({ wish, set, onMade }: FolderProps) {
  const { host, folder, path } = wish;
  const browsed = host.kind === "container" && folder === "there";
  return (
    <>
      {host.kind === "container" && host.makesFolders && (
        <Segments
          label="Folder in the container"
          choices={FOLDERS}
          chosen={folder}
          onChoose={(each) => set({ folder: each })}
        />
      )}
      {(host.kind === "remote" || browsed) && (
        <label class="labelled">
          <span>
            Folder <small>{host.kind === "remote" ? "on the remote host" : "on the server"}</small>
          </span>
          <PlainInput
            value={path}
            placeholder={host.kind === "remote" ? "~/src/project" : "/srv/project"}
            onText={(text) => set({ path: text })}
            testid="case-host-path"
          />
        </label>
      )}
      {browsed && <BrowsePane from={path} onChoose={(found) => set({ path: found })} onMade={onMade} />}
    </>
  );
}

function Form({ hosts, cases, onMade, onClose }: Props & { hosts: readonly [CaseHost, ...CaseHost[]] }) {
  const [wish, setWish] = useState<CaseDraft>({ host: hosts[0], folder: "there", path: "", name: undefined });
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const name = wish.name ?? suggestCaseName(wish.path);
  const wrong = validateCaseName(name, cases);
  const set = (part: Partial<CaseDraft>) => {
    setProblem("");
    setWish((before) => ({ ...before, ...part }));
  };
  const may = !busy && wrong === undefined && isComplete({ ...wish, name });
  const make = async () => {
    setBusy(true);
    try {
      onMade((await createCaseOnHost({ ...wish, name })).case);
    } catch (error) {
      setProblem(formatError(error));
      setBusy(false);
    }
  };
  const enter = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.target instanceof HTMLInputElement)) return;
    event.preventDefault();
    if (may) void make();
  };
  return (
    <div class="case-host-pane" onKeyDown={enter} data-testid="case-host-pane">
      <HostChoice
        hosts={hosts}
        host={wish.host}
        onChoose={(host) => set({ host, folder: "there", path: "" })}
      />
      <Folder wish={wish} set={set} onMade={onMade} />
      <label class="labelled">
        <span>
          Name <small>letters, digits, - and _</small>
        </span>
        <PlainInput value={name} onText={(text) => set({ name: text })} testid="case-host-name" />
      </label>
      <Problem text={wrong ?? problem} testid="case-host-problem" />
      <div class="case-buttons">
        {onClose && <Button onClick={onClose}>Cancel</Button>}
        <Button primary disabled={!may} onClick={() => void make()} testid="case-host-create">
          {busy ? "Creating…" : "Create workspace"}
        </Button>
        {busy && <small role="status">Checking whether sessions can run there…</small>}
      </div>
    </div>
  );
}

export function CaseHostPane(props: Props) {
  const { data: hosts, problem } = useRead(readCaseHosts, []);
  if (problem !== "") return <Problem text={problem} />;
  if (hosts === undefined) return <p class="picker-none">Loading…</p>;
  const [first, ...others] = hosts;
  return first === undefined ? <NoHosts /> : <Form {...props} hosts={[first, ...others]} />;
}
