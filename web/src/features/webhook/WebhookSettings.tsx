/** Messages to a chat, a push topic or a program: one webhook for the whole service. */
import { Icon } from "../../ui/Icon.tsx";
import { useWebhook } from "./useWebhook.ts";
import "./webhook.css";
import { WebhookForm } from "./WebhookForm.tsx";

export function WebhookSettings() {
  const card = useWebhook();
  return (
    <section class="webhook" data-testid="webhook-settings" aria-busy={card.busy !== ""}>
      <h3>Webhook</h3>
      {card.refused && (
        <p class="dim" data-testid="webhook-refused">
          Only admins can set up the webhook.
        </p>
      )}
      {!card.refused && card.saved && <WebhookForm card={card} saved={card.saved} />}
      {!card.refused && !card.saved && card.problem && (
        <p class="problem" role="alert">
          <Icon name="alert" /> {card.problem.text}
        </p>
      )}
    </section>
  );
}
