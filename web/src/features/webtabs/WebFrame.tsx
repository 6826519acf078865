/** The web tabs that are open: each a frame, of which one is in front. */
import { useEffect, useState } from "preact/hooks";
import { getErrorText } from "../../api/errors.ts";
import { Icon } from "../../ui/Icon.tsx";
import { IconButton } from "../../ui/IconButton.tsx";
import { Problem } from "../../ui/Problem.tsx";
import { addressOf } from "./actions.ts";
import { closeTab, frontTab, type OpenTab, openTabs } from "./state.ts";
import "./webtabs.css";

/** The fence comes with every answer; this is the second one around it. */
const SANDBOX =
  "allow-scripts allow-forms allow-modals allow-popups allow-downloads allow-pointer-lock allow-presentation";

function Frame({ tab, front }: { tab: OpenTab; front: boolean }) {
  const [address, setAddress] = useState<string>();
  const [problem, setProblem] = useState("");
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let alive = true;
    setAddress(undefined);
    setProblem("");
    addressOf(tab.id).then(
      (found) => alive && setAddress(found),
      (error: unknown) => alive && setProblem(getErrorText(error)),
    );
    return () => {
      alive = false;
    };
  }, [tab.id, tab.url, turn]);
  return (
    <section class="webtab" hidden={!front} aria-label={`Web tab ${tab.name}`} data-testid="webtab">
      <header class="webtab-bar">
        <Icon name="screen" size={15} />
        <span class="webtab-url">{tab.url}</span>
        <IconButton icon="refresh" label="Reload" testid="webtab-again" onClick={() => setTurn(turn + 1)} />
        <IconButton icon="close" label="Close" testid="webtab-close" onClick={() => closeTab(tab.id)} />
      </header>
      <Problem text={problem} testid="webtab-problem" />
      {address !== undefined && (
        <iframe
          key={turn}
          src={address}
          title={tab.name}
          sandbox={SANDBOX}
          allow=""
          referrerpolicy="same-origin"
          data-testid="webtab-frame"
        />
      )}
    </section>
  );
}

export function WebFrames() {
  return (
    <div class="webtabs" hidden={frontTab.value === undefined}>
      {openTabs.value.map((tab) => (
        <Frame key={tab.id} tab={tab} front={tab.id === frontTab.value} />
      ))}
    </div>
  );
}
