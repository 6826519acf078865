/** What a password must be, as the service judges it (protocol-login). */

export const SHORTEST = 8;
export const LONGEST = 1024;

export interface PasswordDraft {
  current: string;
  wanted: string;
  repeated: string;
}

/** The service counts code points, not the halves that a script sees. */
const length = (text: string): number => [...text].length;

/** @returns what is wrong with the draft, in words; undefined when it can be sent. */
export function problemOf({ current, wanted, repeated }: PasswordDraft): string | undefined {
  if (length(wanted) < SHORTEST) return `Choose a password with at least ${SHORTEST} characters.`;
  if (length(wanted) > LONGEST) return `Choose a password with at most ${LONGEST} characters.`;
  if (wanted === current) return "Choose a password that differs from the current one.";
  if (wanted !== repeated) return "The new passwords don't match.";
  return undefined;
}
