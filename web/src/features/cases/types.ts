/** Records of the case routes (protocol-cases). */

import type { CloneStatusResponse } from "../../api/types.ts";

export type {
  BrowseResponse as Browsed,
  CaseResponse,
  CloneResponse as Cloned,
  CloneStatusResponse,
  BrowsedFolderResponse,
  PrepareResponse,
} from "../../api/types.ts";

export interface CloneBody {
  name: string;
  repository: string;
  ref?: string;
  shallow?: boolean;
}

/** `case:cloneProgress`. */
export interface CloneProgress extends CloneStatusResponse {
  name: string;
}
