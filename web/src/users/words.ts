/** What the page says of accounts, and asks before it changes one. */
import type { Question } from "../ui/ask.ts";
import type { UserResponse } from "./calls.ts";

export type Deed =
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
const OUT = "is signed out everywhere by that";

interface Words {
  title: string;
  text: string;
  action: string;
  danger?: boolean;
}

const QUESTIONS: Record<Deed, (name: string) => Words> = {
  promote: (name) => ({
    title: `Make ${name} an admin?`,
    text: `Admins reach every session, manage users and change the service. ${name} ${OUT}.`,
    action: "Make admin",
  }),
  demote: (name) => ({
    title: `Make ${name} a user?`,
    text: `Users reach only sessions of their own. ${name} ${OUT}.`,
    action: "Make user",
  }),
  grant: (name) => ({
    title: `Let ${name} run anything?`,
    text: `${name} may then start shells, and agents that ask for no permission, and ${OUT}.`,
    action: "Allow",
  }),
  withdraw: (name) => ({
    title: `Keep ${name} to agents that ask?`,
    text: `${name} can then start no shells and no agents that ask for no permission, and ${OUT}. What runs already goes on.`,
    action: "Withdraw",
  }),
  enable: (name) => ({ title: `Enable ${name}?`, text: `${name} can sign in again.`, action: "Enable" }),
  disable: (name) => ({
    title: `Disable ${name}?`,
    text: `${name} cannot sign in and ${OUT}. Sessions go on.`,
    action: "Disable",
    danger: true,
  }),
  reset: (name) => ({
    title: `Give ${name} a one-time password?`,
    text: `The present password no longer works, and ${name} ${OUT}.`,
    action: "Reset password",
  }),
  logout: (name) => ({
    title: `Sign ${name} out everywhere?`,
    text: `Every browser and stream of ${name} ends. The password stays, and so do tokens.`,
    action: "Sign out",
  }),
  tokens: (name) => ({
    title: `End all tokens of ${name}?`,
    text: `Programs that use them are shut out for good, and ${name} ${OUT}.`,
    action: "End tokens",
    danger: true,
  }),
  delete: (name) => ({
    title: `Delete ${name}?`,
    text: `The account and its tokens go for good. Its sessions stay until an admin ends them.`,
    action: "Delete",
    danger: true,
  }),
};

/** @param self whether it is the asking person's own account. */
export function questionFor(deed: Deed, user: UserResponse, self: boolean): Question {
  const words = QUESTIONS[deed](user.username);
  return self ? { ...words, text: `${words.text} This is your own account.` } : words;
}

/** Short marks beside the name, the most telling first. */
export function marksOf(user: UserResponse): string[] {
  const marks: string[] = [];
  if (!user.enabled) marks.push("disabled");
  if (user.mustChangePassword) marks.push("one-time password");
  if (user.canBypassPermissions && user.role !== "admin") marks.push("may run anything");
  if (user.osUser) marks.push(`runs as ${user.osUser}`);
  return marks;
}

const NAME = /^[a-z0-9][a-z0-9_-]{1,31}$/;

/** @returns what is wrong with a new account's name, in words. */
export function nameProblem(name: string): string | undefined {
  if (NAME.test(name)) return undefined;
  return "A user name has 2 to 32 small letters, digits, - or _, and begins with a letter or digit.";
}

/** What accounts that name no OS user are to each other; undefined: there is one at most. */
export function sharedText(users: readonly User[], creating: boolean): string | undefined {
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
