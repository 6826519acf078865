/** Containers and their hosts in words, and what their form sends. */
import type {
  ContainerResponse,
  ContainerHostResponse,
  ContainerHostBody,
  ContainerLimitsResponse,
  ContainerUsageResponse,
} from "../../api/types.ts";
import { plural } from "../../lib/format.ts";
import type { Wrong } from "../../ui/useFieldForm.ts";

export const DEFAULT_IMAGE = "service/agent:base";

export interface Draft {
  label: string;
  engine: ContainerHostResponse["engine"];
  image: string;
  context: string;
  network: string;
  memory: string;
  cpus: string;
  pids: string;
  mountCredentials: "mounted" | "copied" | "none";
  hooksEnabled: boolean;
  /** One word a line. */
  extraCreateArgs: string;
  extraExecArgs: string;
}

export const EMPTY: Draft = {
  label: "",
  engine: "podman",
  image: DEFAULT_IMAGE,
  context: "",
  network: "bridge",
  memory: "4g",
  cpus: "2",
  pids: "512",
  mountCredentials: "mounted",
  hooksEnabled: true,
  extraCreateArgs: "",
  extraExecArgs: "",
};

export const CREDENTIALS = [
  ["mounted", "the server's own, read-only"],
  ["copied", "a copy made with each new container"],
  ["none", "none"],
] as const;

const HOW = { mounted: true, copied: "copy", none: false } as const;

const howOf = (value: ContainerHostResponse["mountCredentials"]): Draft["mountCredentials"] =>
  value === "copy" ? "copied" : value ? "mounted" : "none";

export const draftOf = (host: ContainerHostResponse): Draft => ({
  label: host.label,
  engine: host.engine,
  image: host.image,
  context: host.context ?? "",
  network: host.network,
  memory: host.resources.memory,
  cpus: String(host.resources.cpus),
  pids: String(host.resources.pids),
  mountCredentials: howOf(host.mountCredentials),
  hooksEnabled: host.hooksEnabled,
  extraCreateArgs: host.extraCreateArgs.join("\n"),
  extraExecArgs: host.extraExecArgs.join("\n"),
});

const wordsOf = (text: string): string[] => text.split("\n").filter((line) => line.trim() !== "");

export function bodyOf(draft: Draft): ContainerHostBody {
  const context = draft.context.trim();
  return {
    label: draft.label.trim(),
    engine: draft.engine,
    image: draft.image.trim(),
    ...(context !== "" && { context }),
    network: draft.network.trim(),
    resources: { memory: draft.memory.trim(), cpus: Number(draft.cpus), pids: Number(draft.pids) },
    mountCredentials: HOW[draft.mountCredentials],
    hooksEnabled: draft.hooksEnabled,
    extraCreateArgs: wordsOf(draft.extraCreateArgs),
    extraExecArgs: wordsOf(draft.extraExecArgs),
  };
}

const isNumber = (text: string): boolean => text.trim() !== "" && Number.isFinite(Number(text));

/** What is to be mended before the draft is sent, by field; the service's own rules come behind. */
export function validateDraft(draft: Draft): Wrong {
  return {
    ...(draft.label.trim() === "" && { label: "Enter a name." }),
    ...(draft.image.trim() === "" && { image: "Enter an image name." }),
    ...(draft.memory.trim() === "" && { memory: "Enter a size such as 512m or 4g." }),
    ...(!isNumber(draft.cpus) && { cpus: "Enter a number such as 1.5." }),
    ...(!(isNumber(draft.pids) && Number.isInteger(Number(draft.pids))) && { pids: "Enter a whole number." }),
  };
}

const BINARY = ["bytes", "KiB", "MiB", "GiB", "TiB"];

/** Limits are chosen as powers of two: 4 GiB is not 4.3 GB. */
export function memoryText(count: number): string {
  let [value, unit] = [count, 0];
  while (value >= 1024 && unit < BINARY.length - 1) [value, unit] = [value / 1024, unit + 1];
  const digits = Number.isInteger(value) || value >= 10 ? 0 : 1;
  return `${value.toFixed(digits)} ${BINARY[unit]}`;
}

const SIZE = /^([0-9]+)([bkmg]?)$/;
const SHIFT: Record<string, number> = { "": 0, b: 0, k: 1, m: 2, g: 3 };

/** `4g` as people read it; anything else as it is. */
export function sizeText(text: string): string {
  const [, digits = "", unit = ""] = SIZE.exec(text) ?? [];
  return digits === "" ? text : memoryText(Number(digits) * 1024 ** (SHIFT[unit] ?? 0));
}

export function resourcesText({ resources: { memory, cpus, pids }, network }: ContainerHostResponse): string {
  return `${sizeText(memory)} · ${plural(cpus, "processor")} · ${plural(pids, "process", "processes")} · network ${network}`;
}

/** Percent of what it may use, for a bar; undefined where either is not known. */
export const getPercentUsed = (used: number | null | undefined, most: number): number | undefined =>
  used === null || used === undefined || most <= 0 ? undefined : Math.min(100, (100 * used) / most);

export interface Figure {
  name: string;
  text: string;
  /** Percent of the limit. */
  share: number | undefined;
}

/** What is in use of the limits; without usage the limits alone. */
export function listFigures(
  limits: ContainerLimitsResponse,
  usage: ContainerUsageResponse | undefined,
): Figure[] {
  const memory = usage?.memory;
  const cpu = usage?.cpu;
  const pids = usage?.pids;
  const of = (used: string | undefined, most: string) =>
    used === undefined ? `up to ${most}` : `${used} of ${most}`;
  return [
    {
      name: "Memory",
      text: of(memory == null ? undefined : memoryText(memory), memoryText(limits.memory)),
      share: getPercentUsed(memory, limits.memory),
    },
    {
      name: "Processor",
      // In percent of one processor.
      text: of(cpu == null ? undefined : `${(cpu / 100).toFixed(cpu < 100 ? 2 : 1)}`, String(limits.cpus)),
      share: getPercentUsed(cpu, limits.cpus * 100),
    },
    {
      name: "Processes",
      text: of(pids == null ? undefined : String(pids), limits.pids.toLocaleString("en")),
      share: getPercentUsed(pids, limits.pids),
    },
  ];
}

export interface State {
  word: string;
  tone: "accent" | "warn" | "bad" | "plain";
  /** What it means for its sessions. */
  text?: string;
}

function endOf({ oomKilled, exitCode, limits }: ContainerResponse): State {
  const next = "Start a session to restart it.";
  if (oomKilled)
    return {
      word: "out of memory",
      tone: "bad",
      text: `It exceeded its memory limit of ${memoryText(limits.memory)} and was stopped. ${next}`,
    };
  // 128 + 9 and 128 + 15: what an engine ends a container by.
  if (exitCode === 137) return { word: "killed", tone: "warn", text: `It was killed. ${next}` };
  if (exitCode === undefined || exitCode === 0 || exitCode === 143)
    return { word: "stopped", tone: "plain", text: next };
  return { word: "exited", tone: "warn", text: `It exited with status ${exitCode}. ${next}` };
}

export function describeContainerState(box: ContainerResponse): State {
  switch (box.state) {
    case "running":
      return { word: "running", tone: "accent" };
    case "paused":
      return {
        word: "paused",
        tone: "warn",
        text: "Its sessions are frozen until the engine resumes it.",
      };
    case "restarting":
      return { word: "restarting", tone: "warn" };
    case "created":
      return { word: "not started", tone: "plain", text: "Start a session to start it." };
    case "missing":
      return { word: "not created", tone: "plain", text: "Start a session to create it." };
    case "exited":
      return endOf(box);
  }
}

export interface Progress {
  image: string;
  percent: number | null;
  line: string;
}

export const buildText = ({ image, percent }: Progress): string =>
  percent === null ? `Building ${image}…` : `Building ${image}, ${Math.floor(percent)} %`;

/** An error of the service, with what to do about it. */
export function addAdvice(text: string): string {
  if (text.startsWith("cases use it"))
    return `${text.charAt(0).toUpperCase()}${text.slice(1)}. Remove them first; their folders are not changed.`;
  return text;
}
