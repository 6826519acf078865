/** The keys of the tree, and secrets in it: loaded with the page, not with the terminal. */

/** Arrows among the rows of the tree: up and down, right opens, left closes. */
export function handleTreeKey(event: KeyboardEvent): void {
  const here = (event.target as Element).closest<HTMLElement>(".file-name");
  if (!here) return;
  const open = here.getAttribute("aria-expanded");
  const toggles =
    (event.key === "ArrowRight" && open === "false") || (event.key === "ArrowLeft" && open === "true");
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (!toggles && step === 0) return;
  event.preventDefault();
  if (toggles) return here.click();
  const rows = [...(event.currentTarget as Element).querySelectorAll<HTMLElement>(".file-name:enabled")];
  rows[rows.indexOf(here) + step]?.focus();
}

/** Environment files can be shown by whoever asks for it; other secrets never (protocol-files). */
export const canReveal = (path: string): boolean => {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  return name.startsWith(".env") || name.endsWith(".env");
};
