/** Records of the case routes (protocol-cases). */

import type { Cloning } from "../api/types.ts";

export type { Browse as Browsed, Case, Clone as Cloned, Cloning, Folder, Prepare } from "../api/types.ts";

export interface CloneBody {
  name: string;
  repository: string;
  ref?: string;
  shallow?: boolean;
}

/** `case:cloneProgress`. */
export interface CloneProgress extends Cloning {
  name: string;
}
