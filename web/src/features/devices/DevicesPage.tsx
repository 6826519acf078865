/** How another device comes in, and which ones are in. */
import { Button } from "../../ui/Button.tsx";
import { useResource } from "../../store/resource.ts";
import { isMultiUser } from "../../store/me.ts";
import { formatAgo, formatDate } from "../../lib/ago.ts";
import { plural } from "../../lib/format.ts";
import type { AuthSession } from "../../api/types.ts";
import { QrPanel } from "../tunnel/QrPanel.tsx";
import { Icon, type IconName } from "../../ui/Icon.tsx";
import { Problem } from "../../ui/Problem.tsx";
import { useNow } from "../../ui/useNow.ts";
import { PhoneSteps } from "./PhoneSteps.tsx";
import { access, phone } from "./phone.ts";
import { revoke, revokeOthers, status } from "./state.ts";
import { deviceName, type Shape, shapeOf, sortDevices, describeMethod, listOtherDevices } from "./texts.ts";
import "../../ui/styles/records.css";

const SHAPES: Record<Shape, IconName> = { phone: "phone", desk: "screen", program: "lines" };

function Row({ device, now }: { device: AuthSession; now: number }) {
  const name = deviceName(device.ua);
  return (
    <li class="record" data-testid="device" data-current={device.current === true}>
      <span class="record-mark" data-tone={device.current ? "accent" : "plain"} aria-hidden="true">
        <Icon name={SHAPES[shapeOf(device.ua)]} size={18} />
      </span>
      <div class="record-main">
        <span class="record-title">
          <strong title={device.ua}>{name}</strong>
          {device.current && (
            <span class="tag" data-tone="accent" data-testid="this-device">
              this device
            </span>
          )}
          {isMultiUser.value && device.username && <span class="tag">{device.username}</span>}
        </span>
        <small title={formatDate(device.createdAt)}>
          {device.ip} · {describeMethod(device.method)} · {formatAgo(device.createdAt, now)}
        </small>
      </div>
      <Button
        small
        label={`Sign out ${name} at ${device.ip}`}
        onClick={() => void revoke(device)}
        testid="device-revoke"
      >
        Sign out
      </Button>
    </li>
  );
}

function Devices({ devices }: { devices: readonly AuthSession[] }) {
  const now = useNow();
  const rest = listOtherDevices(devices);
  if (devices.length === 0)
    return <p class="records-none dim">No password is set, so there are no sign-ins to show.</p>;
  return (
    <>
      <div class="records-bar">
        <span class="dim" role="status">
          {plural(devices.length, "signed-in device")}
        </span>
        {rest.length > 0 && (
          <Button onClick={() => void revokeOthers()} testid="revoke-others">
            Sign out all others
          </Button>
        )}
      </div>
      <ul class="records">
        {sortDevices(devices).map((device) => (
          <Row key={device.id} device={device} now={now} />
        ))}
      </ul>
    </>
  );
}

export function DevicesPage() {
  const known = useResource(status);
  const [caller, way] = [useResource(access), useResource(phone)];
  // A part that comes later would push away what is read.
  const isWhole = (caller ?? access.trouble.value) && (way ?? phone.trouble.value);
  const shown = isWhole ? known : undefined;
  return (
    <div class="records-page" data-testid="devices">
      <Problem text={status.trouble.value} testid="devices-problem" />
      {shown && <PhoneSteps tunnel={shown} />}
      {shown && <QrPanel status={shown} />}
      {shown ? <Devices devices={shown.authSessions} /> : <p class="dim">Loading…</p>}
    </div>
  );
}
