/** The agents of the first page: those that are here, and how the others come here. */
import { api } from "../../api/client.ts";
import type { CliItem } from "../../api/types.ts";
import { isAdmin } from "../../store/me.ts";
import { showError, showToast } from "../../store/toasts.ts";
import { plural } from "../../lib/format.ts";
import { askQuestion } from "../../ui/ask.ts";
import { Button } from "../../ui/Button.tsx";
import { copyText } from "../../ui/clipboard.ts";
import { Icon } from "../../ui/Icon.tsx";
import { describeInstallPlan } from "../clis/texts.ts";
import type { Clis } from "../clis/useClis.ts";
import { type AgentOffer, type Agents, describeSignIn } from "./firstrun.ts";
import { openSignIn } from "./state.ts";

const TONES = new Map<boolean | null | undefined, string>([
  [true, "accent"],
  [false, "warn"],
]);

interface HereProps {
  offer: AgentOffer;
  chosen: boolean;
  onChoose: () => void;
}

function Here({ offer: { entry, signIn }, chosen, onChoose }: HereProps) {
  const state = describeSignIn(signIn?.signedIn);
  return (
    <li class="first-agent" data-chosen={chosen} data-testid={`first-agent-${entry.id}`}>
      <label>
        <input type="radio" name="agent" value={entry.id} checked={chosen} onChange={onChoose} />
        <span class="badge">{entry.shortBadge}</span>
        <span class="first-agent-name">
          {entry.label} <small>{entry.version}</small>
        </span>
      </label>
      {state !== "" && (
        <span
          class="tag"
          data-tone={TONES.get(signIn?.signedIn) ?? "plain"}
          data-testid="first-sign-in-state"
        >
          {state}
        </span>
      )}
      {signIn && signIn.signedIn !== true && (
        <Button
          small
          label={`Sign in to ${entry.label} in a terminal`}
          title={`Opens a terminal with: ${signIn.command}`}
          onClick={() => void openSignIn(entry, signIn)}
          testid="first-sign-in"
        >
          Sign in
        </Button>
      )}
    </li>
  );
}

async function copyCommand(entry: CliItem): Promise<void> {
  if (await copyText(entry.installCommand ?? ""))
    showToast("good", "Copied", `Run it on the server to install ${entry.label}.`);
}

async function install(entry: CliItem, page: Clis): Promise<void> {
  try {
    const plan = await api.get("/api/clis/{id}/install", { path: { id: entry.id } });
    const agreed = await askQuestion({
      title: `Install ${entry.label}?`,
      text: describeInstallPlan(plan),
      action: "Install",
      preview: plan.command,
    });
    if (agreed !== undefined) await page.install(entry.id);
  } catch (error) {
    showError(`Couldn't install ${entry.label}`, error);
  }
}

function Missing({ entry, page }: { entry: CliItem; page: Clis }) {
  const running = page.installs[entry.id];
  const managed = isAdmin.value && page.managed === true;
  return (
    <li class="first-agent" data-testid={`first-missing-${entry.id}`}>
      <span class="badge">{entry.shortBadge}</span>
      <span class="first-agent-name">
        {entry.label} <code>{entry.installCommand}</code>
      </span>
      {managed ? (
        <Button
          small
          disabled={running !== undefined}
          label={`Install ${entry.label}`}
          onClick={() => void install(entry, page)}
          testid="first-install"
        >
          {running === undefined ? "Install…" : "Installing…"}
        </Button>
      ) : (
        <Button
          small
          label={`Copy the command that installs ${entry.label}`}
          onClick={() => void copyCommand(entry)}
          testid="first-copy"
        >
          <Icon name="copy" size={15} /> Copy
        </Button>
      )}
      {running !== undefined && (
        <pre class="example" aria-label={`Install output of ${entry.label}`} tabIndex={0}>
          {running || "Waiting for output…"}
        </pre>
      )}
    </li>
  );
}

interface Props {
  agents: Agents;
  page: Clis;
  chosen: string;
  onChoose: (id: string) => void;
}

export function AgentList({ agents: { here, missing }, page, chosen, onChoose }: Props) {
  return (
    <fieldset class="first-step">
      <legend>Agent</legend>
      {here.length === 0 && (
        <p class="dim" data-testid="first-no-agent">
          No agent is installed on the server yet. Install one below.
        </p>
      )}
      <ul class="first-agents">
        {here.map((offer) => (
          <Here
            key={offer.entry.id}
            offer={offer}
            chosen={chosen === offer.entry.id}
            onChoose={() => onChoose(offer.entry.id)}
          />
        ))}
      </ul>
      {missing.length > 0 && (
        <details open={here.length === 0}>
          <summary data-testid="first-missing">
            {plural(missing.length, here.length === 0 ? "agent" : "more agent")} you can install
          </summary>
          <ul class="first-agents">
            {missing.map(({ entry }) => (
              <Missing key={entry.id} entry={entry} page={page} />
            ))}
          </ul>
          {isAdmin.value && page.managed === false && (
            <Button small onClick={() => void page.manage()} testid="first-manage">
              Allow installing from this page
            </Button>
          )}
        </details>
      )}
      {page.problem !== "" && (
        <p class="problem" role="alert">
          <Icon name="alert" /> {page.problem}
        </p>
      )}
    </fieldset>
  );
}
