/** The person at this page, as the service knows them. */
import { computed, signal } from "@preact/signals";
import { onServerEvent } from "../api/stream/events.ts";
import type { CallerResponse } from "../api/types.ts";

type Person = Pick<CallerResponse, "username" | "role" | "mustChangePassword" | "multiUser">;

export const me = signal<Person | undefined>(undefined);

export const isAdmin = computed(() => me.value?.role === "admin");
export const isMultiUser = computed(() => me.value?.multiUser === true);

/** Nothing but the change of the password is open to this person (protocol-login). */
export const passwordDue = computed(() => me.value?.mustChangePassword === true);

/** @returns undefined for anything that is no person; missing rights are no rights. */
export function readPerson(value: unknown): Person | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { username, role, mustChangePassword, multiUser } = value as Record<string, unknown>;
  if (typeof username !== "string") return undefined;
  return {
    username,
    role: role === "admin" ? "admin" : "user",
    mustChangePassword: mustChangePassword === true,
    multiUser: multiUser === true,
  };
}

/** A stream that has begun says that no password is due: it is refused otherwise. */
export function followMe(): void {
  onServerEvent("init", (data) => (me.value = readPerson(data.user)));
}
