/** A new case whose sessions run elsewhere: on an SSH host, or in a container. */
import { useEffect, useState } from "preact/hooks";
import { sentenceOf } from "../api/errors.ts";
import { openPage } from "../app/registry.ts";
import { newSessionOpen } from "../sessions/newsession.ts";
import { Problem } from "../ui/Problem.tsx";
import { BrowsePane } from "./BrowsePane.tsx";
import { type Elsewhere, hostsElsewhere, keyOf, makeElsewhere, ready, type Wish } from "./elsewhere.ts";
import { nameOfRepository, nameProblem } from "./rules.ts";
import { Segments } from "./Segments.tsx";
import type { CaseResponse } from "./types.ts";

interface Props {
  cases: readonly CaseResponse[];
  onMade: (made: CaseResponse) => void;
  /** Absent: whatever it stands in closes by itself. */
  onClose?: () => void;
}

const FOLDERS = [
  ["there", "A folder that is there"],
  ["new", "A new folder"],
] as const;

const plain = { autocomplete: "off", autocapitalize: "off", spellcheck: false } as const;

function show(page: string): void {
  newSessionOpen.value = false;
  openPage.value = page;
}

function NoHosts() {
  return (
    <>
      <p class="picker-none">
        Sessions can run on machines that are reached by ssh, and in containers. None is known yet.
      </p>
      <div class="case-buttons">
        <button type="button" class="button small" onClick={() => show("hosts")}>
          SSH hosts
        </button>
        <button type="button" class="button small" onClick={() => show("containers")}>
          Containers
        </button>
      </div>
    </>
  );
}

function HostChoice({
  hosts,
  host,
  onChoose,
}: {
  hosts: readonly Elsewhere[];
  host: Elsewhere;
  onChoose: (host: Elsewhere) => void;
}) {
  const group = (kind: Elsewhere["kind"], label: string) => {
    const found = hosts.filter((each) => each.kind === kind);
    if (found.length === 0) return null;
    return (
      <optgroup label={label}>
        {found.map((each) => (
          <option key={keyOf(each)} value={keyOf(each)}>
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
        value={keyOf(host)}
        onChange={(event) => {
          const found = hosts.find((each) => keyOf(each) === event.currentTarget.value);
          if (found) onChoose(found);
        }}
        data-testid="far-where"
      >
        {group("remote", "On an SSH host")}
        {group("container", "In a container")}
      </select>
    </label>
  );
}

interface FolderProps {
  wish: Wish;
  set: (part: Partial<Wish>) => void;
  onMade: (made: CaseResponse) => void;
}

function Folder({ wish, set, onMade }: FolderProps) {
  const { host, folder, path } = wish;
  const browsed = host.kind === "container" && folder === "there";
  return (
    <>
      {host.kind === "container" && host.makesFolders && (
        <Segments
          label="Which folder the container sees"
          choices={FOLDERS}
          chosen={folder}
          onChoose={(each) => set({ folder: each })}
        />
      )}
      {(host.kind === "remote" || browsed) && (
        <label class="labelled">
          <span>
            Folder <small>{host.kind === "remote" ? "there" : "on the service’s machine"}</small>
          </span>
          <input
            {...plain}
            class="field"
            value={path}
            placeholder={host.kind === "remote" ? "~/src/project" : "/srv/project"}
            onInput={(event) => set({ path: event.currentTarget.value })}
            data-testid="far-path"
          />
        </label>
      )}
      {browsed && <BrowsePane from={path} onChoose={(found) => set({ path: found })} onMade={onMade} />}
    </>
  );
}

function Form({ hosts, cases, onMade, onClose }: Props & { hosts: readonly [Elsewhere, ...Elsewhere[]] }) {
  const [wish, setWish] = useState<Wish>({ host: hosts[0], folder: "there", path: "", name: undefined });
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const name = wish.name ?? nameOfRepository(wish.path);
  const wrong = nameProblem(name, cases);
  const set = (part: Partial<Wish>) => {
    setProblem("");
    setWish((before) => ({ ...before, ...part }));
  };
  const may = !busy && wrong === undefined && ready({ ...wish, name });
  const make = async () => {
    setBusy(true);
    try {
      onMade((await makeElsewhere({ ...wish, name })).case);
    } catch (error) {
      setProblem(sentenceOf(error));
      setBusy(false);
    }
  };
  const enter = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.target instanceof HTMLInputElement)) return;
    event.preventDefault();
    if (may) void make();
  };
  return (
    <div class="far-pane" onKeyDown={enter} data-testid="far-pane">
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
        <input
          {...plain}
          class="field"
          value={name}
          onInput={(event) => set({ name: event.currentTarget.value })}
          data-testid="far-name"
        />
      </label>
      <Problem text={wrong ?? problem} testid="far-problem" />
      <div class="case-buttons">
        {onClose && (
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
        )}
        <button
          type="button"
          class="button primary"
          disabled={!may}
          onClick={() => void make()}
          data-testid="far-make"
        >
          {busy ? "Making it…" : "Make the case"}
        </button>
        {busy && <small role="status">It is looked whether sessions can run there.</small>}
      </div>
    </div>
  );
}

export function FarPane(props: Props) {
  const [hosts, setHosts] = useState<readonly Elsewhere[]>();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let alive = true;
    hostsElsewhere().then(
      (found) => alive && setHosts(found),
      (error: unknown) => alive && setProblem(sentenceOf(error)),
    );
    return () => {
      alive = false;
    };
  }, []);
  if (problem !== "") return <Problem text={problem} />;
  if (hosts === undefined) return <p class="picker-none">Reading…</p>;
  const [first, ...others] = hosts;
  return first === undefined ? <NoHosts /> : <Form {...props} hosts={[first, ...others]} />;
}
