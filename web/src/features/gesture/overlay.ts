/**
 * A badge that switches the camera on and says what is seen. The service puts this script into the
 * page where it was started with the flag, and serves none of it elsewhere.
 */
import { type Finder, findHands } from "./handfinder.ts";
import { approve, ask, nextSession, type Question, scroll } from "./page.ts";
import { type GestureAction, Reader } from "./reader.ts";
import "./overlay.css";

const HELP = "Open palm: scroll. Pinch: next session. Thumbs up twice: approve.";

const badge = document.createElement("aside");
badge.className = "gestures";
badge.innerHTML = `<video muted playsinline></video><p role="status" data-testid="gesture-status"></p>
  <button type="button" data-testid="gesture-switch"></button>`;
const video = badge.querySelector("video") as HTMLVideoElement;
const status = badge.querySelector("p") as HTMLParagraphElement;
const button = badge.querySelector("button") as HTMLButtonElement;

let finder: Finder | undefined;
let question: Question | undefined;

function tell(text: string): void {
  if (status.textContent !== text) status.textContent = text;
}

function show(state: "off" | "starting" | "on"): void {
  badge.dataset["state"] = state;
  button.textContent = state === "off" ? "Gestures" : "Camera off";
}

async function act(deed: GestureAction): Promise<void> {
  if (deed.kind === "scroll") return scroll(deed.by);
  if (deed.kind === "next") return nextSession();
  if (deed.kind === "ask") {
    const found = await ask();
    question = typeof found === "string" ? undefined : found;
    return tell(
      typeof found === "string" ? found : `Thumbs up again to approve: “${found.text}” for ${found.title}`,
    );
  }
  const sure = question;
  question = undefined;
  if (deed.kind === "forget" || !sure) return tell(HELP);
  tell(approve(sure) ?? "Approved");
}

function stop(): void {
  finder?.stop();
  finder = undefined;
  question = undefined;
  video.srcObject = null;
  show("off");
}

function fail(error: unknown): void {
  stop();
  tell(`Gestures are off: ${error instanceof Error ? error.message : String(error)}`);
}

async function start(): Promise<void> {
  show("starting");
  tell("Starting the camera…");
  const reader = new Reader();
  try {
    finder = await findHands(
      video,
      (hand) => {
        badge.dataset["hand"] = hand ? "seen" : "none";
        for (const deed of reader.read(hand, performance.now())) void act(deed).catch(fail);
      },
      fail,
    );
    show("on");
    tell(HELP);
  } catch (error) {
    fail(error);
  }
}

button.addEventListener("click", () => {
  if (badge.dataset["state"] === "off") void start();
  else {
    stop();
    tell("");
  }
});
show("off");
document.body.append(badge);
