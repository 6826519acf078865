/**
 * A table that is asked with words from outside: `constructor`, `__proto__` and the like, which every
 * plain object seems to have, are not in it.
 */
export const table = <T>(entries: Record<string, T>): Record<string, T> =>
  Object.assign(Object.create(null) as Record<string, T>, entries);
