/** What the page says of accounts, and asks before it changes one. */
import type { Question } from "../../ui/ask.ts";
import type { UserResponse } from "../../api/types.ts";

export type UserAction =
  | "promote"
  | "demote"
  | "grant"
  | "withdraw"
  | "enable"
  | "disable"
  | "reset"
  | "logout"
  | "tokens"
  | "delete";

/** Every change of an account ends what is open in its name (protocol-users). */
const OUT = "will be signed out everywhere";

interface Words {
  title: string;
  text: string;
  action: string;
  danger?: boolean;
}

const QUESTIONS: Record<UserAction, (name: string) => Words> = {
  promote: (name) => ({
    title: `Make ${name} an admin?`,
    text: `Admins can access all sessions, manage users and change the server's settings. ${name} ${OUT}.`,
    action: "Make admin",
  }),
  demote: (name) => ({
    title: `Make ${name} a user?`,
    text: `Users can access only their own sessions. ${name} ${OUT}.`,
    action: "Make user",
  }),
  grant: (name) => ({
    title: `Let ${name} run anything?`,
    text: `${name} can then start shells and agents that skip permission prompts, and ${OUT}.`,
    action: "Allow",
  }),
  withdraw: (name) => ({
    title: `Limit ${name} to agents that ask?`,
    text: `${name} can no longer start shells or agents that skip permission prompts, and ${OUT}. Running sessions keep running.`,
    action: "Revoke",
  }),
  enable: (name) => ({ title: `Enable ${name}?`, text: `${name} can sign in again.`, action: "Enable" }),
  disable: (name) => ({
    title: `Disable ${name}?`,
    text: `${name} can't sign in and ${OUT}. Sessions keep running.`,
    action: "Disable",
    danger: true,
  }),
  reset: (name) => ({
    title: `Give ${name} a one-time password?`,
    text: `The current password stops working, and ${name} ${OUT}.`,
    action: "Reset password",
  }),
  logout: (name) => ({
    title: `Sign out ${name} everywhere?`,
    text: `This signs out all browsers of ${name}. The password and tokens stay valid.`,
    action: "Sign out",
  }),
  tokens: (name) => ({
    title: `Revoke all tokens of ${name}?`,
    text: `Scripts that use them lose access, and ${name} ${OUT}.`,
    action: "Revoke tokens",
    danger: true,
  }),
  delete: (name) => ({
    title: `Delete ${name}?`,
    text: `This deletes the account and its tokens. Its sessions stay until an admin closes them.`,
    action: "Delete",
    danger: true,
  }),
};

/** @param self whether it is the asking person's own account. */
export function buildQuestion(deed: UserAction, user: UserResponse, self: boolean): Question {
  const words = QUESTIONS[deed](user.username);
  return self ? { ...words, text: `${words.text} This is your own account.` } : words;
}

/** Short marks beside the name, the most telling first. */
export function listMarks(user: UserResponse): string[] {
  const marks: string[] = [];
  if (!user.enabled) marks.push("disabled");
  if (user.mustChangePassword) marks.push("one-time password");
  if (user.canBypassPermissions && user.role !== "admin") marks.push("can run anything");
  if (user.osUser) marks.push(`runs as ${user.osUser}`);
  return marks;
}

const NAME = /^[a-z0-9][a-z0-9_-]{1,31}$/;

/** @returns what is wrong with a new account's name, in words. */
export function validateUserName(name: string): string | undefined {
  if (NAME.test(name)) return undefined;
  return "Use 2 to 32 lowercase letters, digits, - or _, and start with a letter or digit.";
}

/** What accounts that name no OS user are to each other; undefined: there is one at most. */
export function sharedText(users: readonly UserResponse[], creating: boolean): string | undefined {
  const shared = users.filter((user) => !user.osUser).length;
  if (shared < 2 && !creating) return undefined;
  const cure = knowsOsUsers(users)
    ? "Give each an OS user to keep them apart."
    : "To keep them apart by OS users, run the service as root.";
  return `Accounts without an OS user are one user with several passwords: what runs for one of them can read and change what the others have, and the service itself. ${cure}`;
}

/** The service tells of OS users only where panes can run as them. */
export const knowsOsUsers = (users: readonly UserResponse[]): boolean =>
  users.some((user) => "osUser" in user);
