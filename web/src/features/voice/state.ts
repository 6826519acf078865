/** The dictation under way; there is one at a time. */
import { signal } from "@preact/signals";
import { getErrorText } from "../../api/errors.ts";
import { getPromptState, writeDraft } from "../prompt/state.ts";
import { settings } from "../../store/state.ts";
import { showToast } from "../../store/toasts.ts";
import { api } from "../../api/client.ts";
import { type Link, openLink, reasonText } from "./link.ts";
import { hasMicrophone, type Microphone, openMicrophone } from "./microphone.ts";
import { hasSpeech, openSpeech } from "./speech.ts";

interface DraftSpan {
  before: string;
  /** What was put there last. */
  said: string;
  after: string;
}

export const placeAt = (draft: string, caret: number): DraftSpan => ({
  before: draft.slice(0, caret),
  said: "",
  after: draft.slice(caret),
});

const GLUED = /^$|\s$/;

/** With blanks where words would run into each other. */
function spaced(before: string, text: string, after: string): string {
  if (text === "") return "";
  const left = GLUED.test(before) ? "" : " ";
  const right = after === "" || /^[\s.,;:!?)]/.test(after) ? "" : " ";
  return `${left}${text}${right}`;
}

/**
 * The place, in a box that its person may have changed around it meanwhile.
 * @returns undefined where what was said is not there as it was put: it is the person's now.
 */
export function findSpan(place: DraftSpan, draft: string): DraftSpan | undefined {
  const { before, said, after } = place;
  if (draft === before + said + after) return place;
  if (said === "") return undefined;
  const at = draft.indexOf(said);
  if (at < 0 || draft.indexOf(said, at + 1) >= 0) return undefined;
  return { before: draft.slice(0, at), said, after: draft.slice(at + said.length) };
}

export function insertText(place: DraftSpan, text: string): { place: DraftSpan; draft: string } {
  const said = spaced(place.before, text, place.after);
  return { place: { ...place, said }, draft: place.before + said + place.after };
}

export type Stage = "starting" | "listening" | "finishing";

interface Dictation {
  id: string;
  stage: Stage;
}

export const dictation = signal<Dictation | undefined>(undefined);

interface Work {
  id: string;
  place: DraftSpan;
  link?: Link;
  microphone?: Microphone;
  /** The button was let go before the microphone was there. */
  hasty: boolean;
}

let work: Work | undefined;

const stage = (one: Work, now: Stage) => work === one && (dictation.value = { id: one.id, stage: now });

/** Let go of everything; what was understood stays in the box. */
function end(one: Work): void {
  one.microphone?.release();
  if (work !== one) return;
  work = undefined;
  dictation.value = undefined;
}

function show(one: Work, text: string): void {
  const place = work === one ? findSpan(one.place, getPromptState(one.id).draft) : undefined;
  if (!place) return cancel(one);
  const next = insertText(place, text);
  one.place = next.place;
  if (getPromptState(one.id).draft !== next.draft) writeDraft(one.id, next.draft);
}

function cancel(one = work): void {
  if (!one) return;
  one.link?.stop();
  end(one);
}

export const cancelDictation = (): void => cancel();

/** By the service, where it can, else by the browser. */
async function viaService(): Promise<boolean> {
  const provider = settings.value.voiceSettings?.provider ?? "auto";
  if (provider === "browser") return false;
  const { available, reason } = await api.get("/api/voice/status");
  if (available) return true;
  if (provider === "auto" && hasSpeech()) return false;
  throw new Error(reasonText(reason ?? ""));
}

async function listen(one: Work): Promise<void> {
  const told = {
    text: (text: string) => show(one, text),
    problem: (message: string) => showToast("bad", "Dictation", message),
    over: () => end(one),
  };
  if (!(await viaService())) {
    one.link = openSpeech(settings.value.voiceSettings?.language ?? "en", told);
    return;
  }
  if (!hasMicrophone()) throw new Error("Open this page over HTTPS or on localhost to use the microphone.");
  const microphone = await openMicrophone((pcm) => one.link?.send(pcm));
  if (work !== one) return microphone.release();
  one.microphone = microphone;
  one.link = openLink(told);
}

/** @param caret where in the box the words go. */
export async function startDictation(id: string, caret: number): Promise<void> {
  cancel();
  const one: Work = { id, place: placeAt(getPromptState(id).draft, caret), hasty: false };
  work = one;
  stage(one, "starting");
  try {
    await listen(one);
    stage(one, "listening");
    if (one.hasty) await finishDictation();
  } catch (error) {
    if (work === one) showToast("bad", "Dictation", getErrorText(error));
    end(one);
  }
}

/** The rest of what was said is waited for. */
export async function finishDictation(): Promise<void> {
  const one = work;
  if (!one) return;
  if (!one.link) {
    one.hasty = true;
    return;
  }
  stage(one, "finishing");
  await one.microphone?.finish();
  one.link.finish();
}
