/** What is missing until a phone can come in, and how to mend it. */
import type { ComponentChildren } from "preact";
import type { CallerResponse, Phone, TunnelStatusAnswer } from "../../api/types.ts";
import { useResource } from "../../store/resource.ts";
import { Icon } from "../../ui/Icon.tsx";
import { Problem } from "../../ui/Problem.tsx";
import { PasswordForm } from "../auth/PasswordForm.tsx";
import { Address } from "../tunnel/QrPanel.tsx";
import { imageOf } from "../tunnel/state.ts";
import { access, judgeSteps, phone, setFirstPassword, type StepState } from "./phone.ts";
import "./phone.css";

/** Of a service that nobody has moved elsewhere. */
const DEFAULT_PORT = "8770";

interface StepProps {
  id: string;
  title: string;
  state: StepState;
  children: ComponentChildren;
}

function Step({ id, title, state, children }: StepProps) {
  return (
    <li class="phone-step" data-testid={`phone-${id}`} data-state={state} data-done={state === "done"}>
      <span class="phone-mark" aria-hidden="true">
        <Icon name={state === "done" ? "check" : state === "missing" ? "alert" : "clock"} size={16} />
      </span>
      <div class="phone-text">
        <strong>
          {title}
          <span class="offscreen">{state === "done" ? ": done" : ": missing"}</span>
        </strong>
        {children}
      </div>
    </li>
  );
}

function Password({ canSet }: { canSet: boolean }) {
  return (
    <>
      <p data-testid="phone-open">
        Nobody has to sign in: every person and program on the server's machine can use this page, and run
        commands.
      </p>
      {canSet ? (
        <PasswordForm
          askCurrent={false}
          action="Set password"
          save={(_, password) => setFirstPassword(password)}
        />
      ) : (
        <p>
          Open <code>http://localhost</code> with the server's port in a browser on its own machine to set one
          here, or set <code>SERVICE_PASSWORD</code> and restart the server.
        </p>
      )}
    </>
  );
}

function Ways({ programs }: Pick<Phone, "programs">) {
  const command = `tailscale serve --bg ${location.port || DEFAULT_PORT}`;
  return (
    <ul class="phone-ways">
      <li>
        <strong>Tunnel</strong>: works at once, with nothing on the phone.{" "}
        {programs.length > 0
          ? "Start it below."
          : "Install cloudflared or Tailscale on the server, then start it below."}{" "}
        The provider of a Cloudflare tunnel can read the traffic.
      </li>
      <li>
        <strong>Tailscale</strong>: private and lasting. Install it on both, then run this on the server and
        open the address that it prints, here and on the phone:
        <Address label="Command" url={command} testid="phone-serve" />
      </li>
      <li>
        <strong>Reverse proxy</strong>: for a server with its own name and certificate. The guide is{" "}
        <code>docs/howto/proxy.rst</code>.
      </li>
    </ul>
  );
}

function Scan({ found, url }: { found: Phone; url: string }) {
  return (
    <div class="qr">
      {found.svg !== null && (
        <img
          class="qr-image"
          src={imageOf(found.svg)}
          alt="QR code with the address"
          data-testid="phone-qr"
        />
      )}
      <div class="qr-side">
        <p>Scan with your phone, then sign in with the password.</p>
        <Address label="Address" url={url} testid="phone-url" />
      </div>
    </div>
  );
}

function HomeScreen({ secure }: { secure: boolean }) {
  return (
    <p class="dim" data-testid="phone-home-screen">
      Then add it to the home screen: on an iPhone <em>Share</em> and <em>Add to Home Screen</em>, on Android
      the browser's menu and <em>Install app</em>.
      {secure ? " After that the settings can switch on notifications." : ""}
    </p>
  );
}

interface BodyProps {
  caller: CallerResponse;
  found: Phone;
  tunnel: TunnelStatusAnswer;
}

function Body({ caller, found, tunnel }: BodyProps) {
  const steps = judgeSteps(caller.signedIn, tunnel.url, found.url);
  return (
    <>
      <ol class="phone-steps">
        <Step id="password" title="Password" state={steps.password}>
          {caller.signedIn ? <p>Everybody has to sign in.</p> : <Password canSet={caller.canSetPassword} />}
        </Step>
        <Step id="address" title="Address that a phone can reach" state={steps.address}>
          {steps.url !== undefined ? (
            <p>
              <code>{steps.url}</code>
            </p>
          ) : caller.signedIn ? (
            <Ways programs={found.programs} />
          ) : (
            <p>Only the server's own machine can open this page. Set a password first.</p>
          )}
        </Step>
        <Step id="https" title="https, for notifications and the microphone" state={steps.https}>
          {steps.https === "done" && <p>The address is secure.</p>}
          {steps.https === "later" && <p>A tunnel and Tailscale bring it with the address.</p>}
          {steps.https === "missing" && (
            <>
              <p>The page works, but notifications, dictation and installing need https.</p>
              <Ways programs={found.programs} />
            </>
          )}
        </Step>
      </ol>
      {caller.signedIn && found.url !== null && !tunnel.running && <Scan found={found} url={found.url} />}
      {steps.url !== undefined && <HomeScreen secure={steps.https === "done"} />}
    </>
  );
}

export function PhoneSteps({ tunnel }: { tunnel: TunnelStatusAnswer }) {
  const caller = useResource(access);
  const found = useResource(phone);
  return (
    <section class="phone" aria-labelledby="phone-title" data-testid="phone-steps">
      <h3 id="phone-title">Continue on your phone</h3>
      <Problem text={access.trouble.value || phone.trouble.value} testid="phone-problem" />
      {caller && found && <Body caller={caller} found={found} tunnel={tunnel} />}
    </section>
  );
}
