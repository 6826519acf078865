/** Whether the account has rules of its own for its notices. */
import { signal } from "@preact/signals";

export const customNotices = signal(false);
