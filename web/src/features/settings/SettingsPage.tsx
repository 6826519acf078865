import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { AgentSettings } from "../agents/AgentSettings.tsx";
import { AccountSettings } from "../auth/AccountSettings.tsx";
import { me } from "../../store/me.ts";
import { canSignOut } from "../auth/state.ts";
import { NotificationSettings } from "../notifications/NotificationSettings.tsx";
import { RuleSettings } from "../notifications/RuleSettings.tsx";
import { serviceVersion, updateNotice } from "../../store/state.ts";
import { Icon } from "../../ui/Icon.tsx";
import { WebhookSettings } from "../webhook/WebhookSettings.tsx";
import { AppearanceSettings, TerminalSettings } from "./BrowserSettings.tsx";
import { PART_NAMES, type PartName, wantedSetting } from "./parts.ts";
import { forgetMarks } from "./saving.ts";
import { ServerSettings } from "./ServerSettings.tsx";
import "./settings.css";
import "../../ui/styles/records.css";

const AllNotificationSettings = () => (
  <>
    <NotificationSettings />
    <RuleSettings />
  </>
);

const BODIES: Readonly<Record<string, ComponentType>> = {
  account: AccountSettings,
  look: AppearanceSettings,
  terminal: TerminalSettings,
  agents: AgentSettings,
  notifications: AllNotificationSettings,
  service: ServerSettings,
  webhook: WebhookSettings,
};

interface Part extends PartName {
  Body: ComponentType;
}

const PARTS: readonly Part[] = PART_NAMES.flatMap((part) => {
  const Body = BODIES[part.id];
  return Body ? [{ ...part, Body }] : [];
});

const partId = (id: string): string => `settings-${id}`;

/** The part whose head was scrolled past last. */
function partInSight(scroller: Element, parts: readonly Part[]): string | undefined {
  const line = scroller.getBoundingClientRect().top + 80;
  const atEnd = scroller.scrollTop + scroller.clientHeight >= scroller.scrollHeight - 2;
  if (atEnd && scroller.scrollTop > 0) return parts.at(-1)?.id;
  const passed = parts.filter(({ id }) => {
    const box = document.getElementById(partId(id))?.getBoundingClientRect();
    return box !== undefined && box.top <= line;
  });
  return (passed.at(-1) ?? parts[0])?.id;
}

/** Whether its head is where the person looks. */
function isInSight(scroller: Element, id: string): boolean {
  const box = document.getElementById(partId(id))?.getBoundingClientRect();
  const seen = scroller.getBoundingClientRect();
  return box !== undefined && box.top >= seen.top - 2 && box.top < seen.bottom - 40;
}

const CONTROL = ":is(input, select, textarea, button):not(:disabled)";

function goTo(id: string, setting?: string): void {
  const part = document.getElementById(partId(id));
  const row = [...(part?.querySelectorAll<HTMLElement>(".setting") ?? [])].find(
    (each) => setting !== undefined && each.textContent.trim().startsWith(setting),
  );
  part?.scrollIntoView({ block: "start" });
  row?.scrollIntoView({ block: "center" });
  (row ?? part)?.querySelector<HTMLElement>(CONTROL)?.focus({ preventScroll: true });
}

function Navigation({ parts, here, go }: { parts: readonly Part[]; here: string; go: (id: string) => void }) {
  return (
    <nav class="settings-nav" aria-label="Settings sections">
      {parts.map(({ id, title, icon }) => (
        <button
          key={id}
          type="button"
          aria-current={id === here ? "true" : undefined}
          onClick={() => go(id)}
          data-testid={`settings-nav-${id}`}
        >
          <Icon name={icon} size={16} />
          {title}
        </button>
      ))}
    </nav>
  );
}

export function SettingsPage() {
  const scroller = useRef<HTMLDivElement>(null);
  const parts = PARTS.filter(({ id }) => id !== "account" || (me.value && canSignOut.value));
  const [here, setHere] = useState(parts[0]?.id ?? "");
  useEffect(() => forgetMarks, []);
  /** A short part at the end cannot be scrolled to the top: what was asked for holds while it shows. */
  const asked = useRef<string | undefined>(undefined);
  const look = () => {
    const box = scroller.current;
    if (!box) return;
    if (asked.current !== undefined && !isInSight(box, asked.current)) asked.current = undefined;
    setHere(asked.current ?? partInSight(box, parts) ?? here);
  };
  const go = (id: string, setting?: string) => {
    asked.current = id;
    goTo(id, setting);
    setHere(id);
  };
  const wanted = wantedSetting.value;
  useEffect(() => {
    if (wanted === undefined) return;
    wantedSetting.value = undefined;
    go(wanted.part, wanted.setting);
  }, [wanted]);
  return (
    <div class="settings">
      <Navigation parts={parts} here={here} go={go} />
      <div class="settings-parts" ref={scroller} onScroll={look} data-testid="settings-parts">
        {parts.map(({ id, Body }) => (
          <div key={id} id={partId(id)} class="settings-part">
            <Body />
          </div>
        ))}
        <footer class="settings-foot dim">
          <span>
            tservice {serviceVersion.value} {updateNotice.value}
          </span>
        </footer>
      </div>
    </div>
  );
}
