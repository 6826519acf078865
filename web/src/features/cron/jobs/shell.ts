import { cliOf } from "../../../store/state.ts";

/** Whether a mode runs a plain shell: only there is a command run before the input. */
export const isShellMode = (mode: string): boolean => (cliOf(mode)?.kind ?? mode) === "shell";
