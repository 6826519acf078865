/** Says that sessions can come back, until they are or nobody wants them. */
import { RESTORE_PAGE, openPage } from "../../ui/pages/registry.ts";
import { Icon } from "../../ui/Icon.tsx";
import { restoreSessions, dismissOffer, offer, progress, restoring } from "./state.ts";
import { describeOffer } from "./texts.ts";

function Choices() {
  return (
    <>
      <button
        type="button"
        class="button small"
        onClick={() => void restoreSessions()}
        data-testid="restore-all"
      >
        {" "}
        Restore
      </button>
      <button
        type="button"
        class="button small"
        title="Sessions stay in the list"
        onClick={() => void dismissOffer()}
        data-testid="restore-dismiss"
      >
        Dismiss
      </button>
    </>
  );
}

export function RestoreBanner() {
  const text = describeOffer(offer.value, progress.value);
  if (text === undefined || openPage.value === RESTORE_PAGE) return null;
  return (
    <div class="banner session-notice restore-banner" data-testid="restore-banner">
      <span class="restore-text">
        {restoring.value ? <span class="spinner" /> : <Icon name="refresh" size={16} />}
        <span>{text}</span>
      </span>
      <span class="restore-buttons">
        {!restoring.value && <Choices />}
        <button
          type="button"
          class="button small"
          onClick={() => (openPage.value = RESTORE_PAGE)}
          data-testid="restore-look"
        >
          {" "}
          Show
        </button>
      </span>
    </div>
  );
}
