/** What another app shared: shown first, and put into a prompt only by the person's own press. */
import { Select } from "../../ui/Select.tsx";
import { Button } from "../../ui/Button.tsx";
import { useEffect, useState } from "preact/hooks";
import type { Session } from "../../api/types.ts";
import { serviceUrl } from "../../api/paths.ts";
import { openPage } from "../../ui/pages/registry.ts";
import { attachFiles } from "../attach/attach.ts";
import { focusPrompt } from "../prompt/focus.ts";
import { isAgent } from "../prompt/isagent.ts";
import { getPromptState, writeDraft } from "../prompt/state.ts";
import { select } from "../../ui/pages/select.ts";
import { newSessionOpen } from "../../ui/pages/openpanels.ts";
import { livePid } from "../sessions/status.ts";
import { activeId, sessions } from "../../store/state.ts";
import { Icon } from "../../ui/Icon.tsx";
import { showError } from "../../store/toasts.ts";
import { forgetShared } from "../worker/sharedcache.ts";
import { readShared, type Shared } from "../worker/shared.ts";
import "./shared.css";

const scope = (): string => serviceUrl("./", document.baseURI);

const mayTake = (session: Session): boolean => isAgent(session) && livePid(session) !== null;

async function leave(): Promise<void> {
  openPage.value = undefined;
  await forgetShared(scope());
}

function put(id: string, { text, files }: Shared): void {
  const { draft } = getPromptState(id);
  if (text !== "") writeDraft(id, draft === "" ? text : `${draft.trimEnd()}\n${text}`);
  attachFiles(id, files);
  select(id);
  leave().then(focusPrompt, (error: unknown) => showError("Couldn't delete the shared items", error));
}

function Pictures({ files }: { files: readonly File[] }) {
  const [addresses, setAddresses] = useState<readonly string[]>([]);
  useEffect(() => {
    const made = files.map((file) => URL.createObjectURL(file));
    setAddresses(made);
    return () => made.forEach((address) => URL.revokeObjectURL(address));
  }, [files]);
  return (
    <ul class="shared-pictures">
      {addresses.map((address, at) => (
        <li key={address}>
          <img src={address} alt={files[at]?.name ?? ""} />
        </li>
      ))}
    </ul>
  );
}

function Where({ shared }: { shared: Shared }) {
  const able = sessions.value.filter(mayTake);
  const [chosen, setChosen] = useState("");
  const here = able.some(({ id }) => id === activeId.value) ? activeId.value : able[0]?.id;
  const id = able.some((each) => each.id === chosen) ? chosen : here;
  if (id === undefined)
    return (
      <p class="dim">
        No agent is running. The shared items stay here until you start one.
        <Button onClick={() => (newSessionOpen.value = true)}>Start a session</Button>
      </p>
    );
  return (
    <>
      <label class="labelled">
        {" "}
        Send to{" "}
        <Select
          value={id}
          testid="shared-session"
          choices={able.map((session) => [session.id, session.name] as const)}
          onChoose={(chosen) => setChosen(chosen)}
        />
      </label>
      <Button primary onClick={() => put(id, shared)} testid="shared-put">
        Add to prompt
      </Button>
    </>
  );
}

export function SharedPage() {
  const [shared, setShared] = useState<Shared | null>();
  useEffect(() => {
    readShared(scope()).then(
      (found) => setShared(found ?? null),
      (error: unknown) => {
        showError("Couldn't load the shared items", error);
        setShared(null);
      },
    );
  }, []);
  if (shared === undefined) return <p class="dim">Loading…</p>;
  if (shared === null || (shared.text === "" && shared.files.length === 0))
    return (
      <p class="dim" data-testid="shared-none">
        Nothing shared yet. Text and pictures that you share from other apps appear here.
      </p>
    );
  return (
    <div class="shared" data-testid="shared">
      {shared.text !== "" && (
        <pre class="example" tabIndex={0} aria-label="Shared text" data-testid="shared-text">
          {shared.text}
        </pre>
      )}
      <Pictures files={shared.files} />
      <Where shared={shared} />
      <Button
        onClick={() =>
          void leave().catch((error: unknown) => showError("Couldn't discard the shared items", error))
        }
        testid="shared-discard"
      >
        <Icon name="close" size={16} /> Discard
      </Button>
    </div>
  );
}
