/** When and where a person is told. */
import { useState } from "preact/hooks";
import { getErrorText } from "../../api/errors.ts";
import { Field, SaveMark, Switch } from "../settings/fields.tsx";
import { saveSetting } from "../settings/saving.ts";
import { settings } from "../../store/state.ts";
import { showError, showToast } from "../../store/toasts.ts";
import { type NotifiedEvent, type Preferences, readPreferences } from "./start.ts";
import { answers, type Device, device, isOn } from "./devicestate.ts";
import { setAnswers, switchOff, switchOn } from "./deviceswitch.ts";

const EVENTS: [NotifiedEvent, string][] = [
  ["permission_prompt", "An agent asks for permission"],
  ["elicitation_dialog", "An agent asks a question"],
  ["idle_prompt", "An agent waits for its next prompt"],
  ["stop", "An agent finished its turn"],
  ["exit", "A program exited"],
  ["error", "A session keeps crashing"],
  ["stalled", "An agent seems to hang"],
];

const DEVICE: Record<Device, string> = {
  unsupported: "your browser allows notifications only over HTTPS or on localhost",
  denied: "blocked; allow notifications for this page in your browser settings",
  off: "even while this page is in the background",
  page: "on while a page is open; push is not available here",
  push: "on, even when no page is open",
};

const save = (part: Partial<Preferences>) => saveSetting("notificationPreferences", part);

async function setDevice(on: boolean): Promise<void> {
  try {
    if (!on) return await switchOff();
    const missing = await switchOn();
    if (missing !== undefined) showToast("info", "On while a page is open", `Push: ${getErrorText(missing)}`);
    if (isOn() && !readPreferences(settings.peek()["notificationPreferences"]).enabled)
      await save({ enabled: true });
  } catch (error) {
    showError(on ? "Couldn't turn on notifications" : "Couldn't turn off notifications", error);
  }
}

async function switchAnswers(on: boolean): Promise<void> {
  try {
    await setAnswers(on);
  } catch (error) {
    showError("Couldn't save", error);
  }
}

export function NotificationSettings() {
  const now = readPreferences(settings.value["notificationPreferences"]);
  const here = device.value;
  // What was asked for is shown until it is known what came of it.
  const [wanted, setWanted] = useState<boolean>();
  const switchTo = async (on: boolean) => {
    setWanted(on);
    await setDevice(on);
    setWanted(undefined);
  };
  const toggle = (event: NotifiedEvent, on: boolean) => {
    const others = now.events.filter((other) => other !== event);
    void save({ events: on ? [...others, event] : others });
  };
  return (
    <section data-testid="notification-settings">
      <h3>Notifications</h3>
      <Field label="Notify on this device" hint={DEVICE[here]}>
        <input
          type="checkbox"
          role="switch"
          class="switch"
          checked={wanted ?? (isOn() && now.enabled)}
          disabled={here === "unsupported" || here === "denied"}
          onChange={(event) => void switchTo(event.currentTarget.checked)}
          data-testid="notify-here"
        />
      </Field>
      <Field
        label="Answer from notifications"
        hint="notifications show the question, also on a locked screen; you can approve only what is fully visible"
      >
        <input
          type="checkbox"
          role="switch"
          class="switch"
          checked={answers.value}
          disabled={here !== "push" && here !== "page"}
          onChange={(event) => void switchAnswers(event.currentTarget.checked)}
          data-testid="notify-answers"
        />
      </Field>
      <Switch
        label="Sound"
        hint="two soft tones"
        value={now.sound}
        onChange={(sound) => void save({ sound })}
      />
      <fieldset class="setting-checks">
        <legend>
          Notify me when <small>on every device</small>
        </legend>
        {EVENTS.map(([event, label]) => (
          <label key={event}>
            <input
              type="checkbox"
              checked={now.events.includes(event)}
              onChange={(change) => toggle(event, change.currentTarget.checked)}
              data-testid={`notify-${event}`}
            />
            {label}
          </label>
        ))}
      </fieldset>
      <SaveMark name="notificationPreferences" />
    </section>
  );
}
