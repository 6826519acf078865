/** Attaches files to the next prompt of a session. */
import { showError } from "../../store/toasts.ts";

// In the order of the person: a second import need not wait for the styles that the first one loads.
let before: Promise<void> = Promise.resolve();

/** Brings files to the session's workspace; the code for it comes with the first. */
export function attachFiles(id: string, files: readonly File[]): void {
  if (files.length === 0) return;
  before = before
    .then(() => import("./sending.ts"))
    .then(
      ({ addFiles: add }) => add(id, files),
      (error: unknown) => showError("Couldn't attach the file", error),
    );
}

/**
 * Lets the person choose files, or take a picture where the device can.
 * @param onChosen called once files were chosen: the next words are about them.
 */
export function chooseFiles(id: string, onChosen: () => void): void {
  const input = document.createElement("input");
  input.type = "file";
  input.multiple = true;
  input.onchange = () => {
    attachFiles(id, [...(input.files ?? [])]);
    onChosen();
  };
  input.click();
}
