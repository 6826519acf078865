/** Model endpoints in words, and what their form sends. */
import type {
  ContextQuestion,
  Endpoint,
  OfferedModel,
  EndpointPatch,
  NewEndpointBody,
  SwapQuestion,
} from "../api/types.ts";
import { plural } from "../lib/format.ts";

export interface Draft {
  label: string;
  baseUrl: string;
  /** Empty: none, or the one that is kept. */
  apiKey: string;
  forgetKey: boolean;
  authStyle: "bearer" | "api-key";
  defaultModelId: string;
}

export const EMPTY: Draft = {
  label: "",
  baseUrl: "",
  apiKey: "",
  forgetKey: false,
  authStyle: "bearer",
  defaultModelId: "",
};

export const draftOf = ({ label, baseUrl, authStyle, defaultModelId = "" }: Endpoint): Draft => ({
  ...EMPTY,
  label,
  baseUrl,
  authStyle,
  defaultModelId,
});

/** What is to be mended before the draft is sent; the service's own rules come behind. */
export function problemOf({ label, baseUrl }: Draft): string | undefined {
  if (label.trim() === "") return "Give it a name.";
  if (!/^https?:\/\/[^\s/]/i.test(baseUrl.trim()))
    return "The address begins with http:// or https:// and names a server.";
  return undefined;
}

export function newBody(draft: Draft): NewEndpointBody {
  const { label, baseUrl, apiKey, authStyle } = draft;
  return { label: label.trim(), baseUrl: baseUrl.trim(), authStyle, ...(apiKey !== "" && { apiKey }) };
}

/** Without a new key the kept one stays; an empty one clears it. */
export function patchOf(draft: Draft): EndpointPatch {
  const { apiKey: _, ...body } = newBody(draft);
  const key = draft.forgetKey ? "" : draft.apiKey || undefined;
  return { ...body, defaultModelId: draft.defaultModelId || null, ...(key !== undefined && { apiKey: key }) };
}

export function modelText({ id, contextLength }: OfferedModel): string {
  return contextLength === undefined ? id : `${id} · ${Math.round(contextLength / 1000)}k tokens`;
}

export function stateOf({ models, lastDiscoveredAt }: Endpoint): string {
  if (lastDiscoveredAt === null) return "not asked yet";
  return models.length === 0 ? "offers no model" : plural(models.length, "model");
}

/** An error of the service, with what to do about it. */
export function wayOut(told: string): string {
  const text = told.charAt(0).toUpperCase() + told.slice(1);
  if (/HTTP 40[13]$/.test(text))
    return `${text}. The server wants another key: change the endpoint and give it one.`;
  if (text.startsWith("The models of"))
    return `${text}. Look whether the server runs and whether the address is right; the endpoint is kept, and can be asked again.`;
  if (text.includes("live sessions use")) return `${text}. Close them, or give them another model first.`;
  return text;
}

export type Question = ContextQuestion | SwapQuestion;

/** What is asked before a session gets a model, and which field answers it. */
export function questionOf(question: Question): { title: string; text: string; answer: string } {
  if ("contextLength" in question)
    return {
      title: "A small context",
      text: `${question.modelId} takes ${question.contextLength.toLocaleString("en")} tokens. An agent's own instructions need most of that: ${question.minSafeContextTokens.toLocaleString("en")} are advised.`,
      answer: "confirmedContext",
    };
  const names = question.affectedSessions.map(({ name }) => name).join(", ");
  return {
    title: "Another model is loaded",
    text: `The server would push out ${question.currentlyLoadedModel}.${names === "" ? "" : ` These sessions use it: ${names}.`}`,
    answer: "confirmedSwap",
  };
}
