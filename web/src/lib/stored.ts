/** The local storage of this browser. */

/** Storage is missing where the browser blocks it: choices then last as long as the page. */
export function readStored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function writeStored(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch (error) {
    console.warn("this browser keeps nothing", error);
  }
}
