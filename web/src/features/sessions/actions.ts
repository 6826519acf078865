/** What a person does with a session; every failure is told in a toast. */
import * as calls from "../../api/calls.ts";
import type { CreateBody, LeftoverProcessResponse, Session } from "../../api/types.ts";
import { select } from "../../ui/pages/select.ts";
import { reorder } from "../../store/sessions.ts";
import { activeId, dropSession, putSession, sessionList, sessions } from "../../store/state.ts";
import { askQuestion } from "../../ui/ask.ts";
import { showError, showToast } from "../../store/toasts.ts";
import { seenSessions } from "../sidebar/state.ts";
import { moveSession, neighbour } from "./order.ts";
import { livePid } from "./status.ts";

/** @returns undefined where it failed, which is told in a toast. */
export async function attempt<T>(title: string, action: () => Promise<T>): Promise<T | undefined> {
  try {
    return await action();
  } catch (error) {
    showError(title, error);
    return undefined;
  }
}

const find = (id: string): Session | undefined => sessionList.peek().byId.get(id);

/** Show the change at once; put the old record back where the service refuses. */
async function change(
  id: string,
  title: string,
  part: Partial<Session>,
  call: () => Promise<Partial<Session>>,
): Promise<void> {
  const before = find(id);
  if (!before) return;
  putSession({ ...before, ...part });
  const answer = await attempt(title, call);
  const now = find(id);
  if (now) putSession(answer ? { ...now, ...answer } : before);
}

const seenIds = (): string[] => seenSessions.value.map((session) => session.id);

/** Go on in the order in which the sessions are seen. */
export function selectNext(step: number): void {
  const id = neighbour(seenIds(), activeId.value, step);
  if (id !== undefined) select(id);
}

export const rename = (id: string, name: string) =>
  change(id, "Couldn't rename the session", name === "" ? {} : { name }, () => calls.renameSession(id, name));

export const recolor = (id: string, color: Session["color"]) =>
  change(id, "Couldn't change the colour", { color }, () => calls.colorSession(id, color));

export const pin = (id: string, pinned: boolean) =>
  change(id, pinned ? "Couldn't pin the session" : "Couldn't unpin the session", { pinned }, () =>
    calls.pinSession(id, pinned),
  );

/** @param until undefined ends the pause; the row follows the service, which computes its end. */
export const snooze = (id: string, until: calls.SnoozeChoice | undefined) =>
  attempt("Couldn't change the notifications", () => calls.snoozeSession(id, until));

export async function start(id: string): Promise<void> {
  const session = find(id);
  if (!session || livePid(session) !== null) return;
  const clear = session.status === "error" || session.respawnBlocked === true;
  const answer = await attempt("Couldn't start the session", () => calls.startSession(id, clear));
  if (answer) putSession(answer.session);
}

/** @param killMux false leaves the program running in tmux. */
export async function remove(id: string, killMux: boolean): Promise<void> {
  const ids = seenIds();
  const heir = neighbour(ids, id, 1) ?? neighbour(ids, id, -1);
  const done = await attempt(killMux ? "Couldn't close the session" : "Couldn't detach the session", () =>
    calls.removeSession(id, killMux),
  );
  if (done === undefined) return;
  if (killMux) {
    if (activeId.value === id) activeId.value = heir === id ? undefined : heir;
    dropSession(id);
    const left = done.left ?? [];
    if (left.length > 0) showToast("bad", "Some processes are still running", leftText(left));
  } else showToast("good", "Detached", "The program keeps running. Start the session to attach again.");
}

/** What outlives a session, a few by name. */
const leftText = (left: readonly LeftoverProcessResponse[]): string => {
  const named = left.slice(0, 3).map(({ pid, command }) => `${pid} ${command}`);
  return [...named, ...(left.length > 3 ? [`and ${left.length - 3} more`] : [])].join("; ");
};

const ENDING = "This stops the program. Detach keeps it running in tmux.";

export async function close(id: string): Promise<void> {
  const session = find(id);
  if (!session) return;
  if (session.pid === null && !session.detached) return remove(id, true);
  // Attached on another host, it was never ours to end.
  const attached = session.remote?.owned === false;
  const answer = await askQuestion({
    title: `Close ${session.name}?`,
    text: attached ? `This only detaches. The session keeps running on ${session.remote?.hostId}.` : ENDING,
    action: attached ? "Close" : "Stop and close",
    ...(!session.detached && !attached && { other: "Detach" }),
    danger: !attached,
  });
  if (answer !== undefined) await remove(id, answer !== "Detach");
}

export const detach = (id: string) => remove(id, false);

/** @returns undefined where the person took it back when asked about the model. */
export async function create(body: CreateBody): Promise<Session | undefined> {
  const answer = await calls.createSession(body);
  if (!("session" in answer)) {
    const agreed = await (await import("../models/confirmmodel.ts")).confirmModel(answer);
    if (agreed === undefined || !body.customModel) return undefined;
    return create({ ...body, customModel: { ...body.customModel, [agreed]: true } });
  }
  const { session, warnings } = answer;
  putSession(session);
  select(session.id);
  if (warnings && session.caseName)
    (await import("../cases/missingparts.ts")).reportMissingParts(session.caseName, warnings);
  return session;
}

/** @param to the place among all displayed sessions. */
export async function move(id: string, to: number): Promise<void> {
  const before = sessionList.peek();
  const order = moveSession(sessions.value, id, to);
  if (!order) return;
  sessionList.value = reorder(before, order);
  const answer = await attempt("Couldn't save the order", () => calls.orderSessions(order));
  sessionList.value = reorder(sessionList.peek(), answer?.order ?? before.order);
}
