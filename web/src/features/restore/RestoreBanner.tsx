/** Says that sessions can come back, until they are or nobody wants them. */
import { Button } from "../../ui/Button.tsx";
import { RESTORE_PAGE, openPage } from "../../ui/pages/registry.ts";
import { Icon } from "../../ui/Icon.tsx";
import { restoreSessions, dismissOffer, offer, progress, restoring } from "./state.ts";
import { describeOffer } from "./texts.ts";
import "./restore.css";

function Choices() {
  return (
    <>
      <Button small onClick={() => void restoreSessions()} testid="restore-all">
        Restore
      </Button>
      <Button
        small
        title="Sessions stay in the list"
        onClick={() => void dismissOffer()}
        testid="restore-dismiss"
      >
        Dismiss
      </Button>
    </>
  );
}

export function RestoreBanner() {
  return (
    <div class="banner session-notice restore-banner" data-testid="restore-banner">
      <span class="restore-text">
        {restoring.value ? <span class="spinner" /> : <Icon name="refresh" size={16} />}
        <span>{describeOffer(offer.value, progress.value)}</span>
      </span>
      <span class="restore-buttons">
        {!restoring.value && <Choices />}
        <Button small onClick={() => (openPage.value = RESTORE_PAGE)} testid="restore-look">
          Show
        </Button>
      </span>
    </div>
  );
}
