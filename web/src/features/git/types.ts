/** Records of the git routes (protocol-git-status). */
import type { ChangedFileResponse as FileChange } from "../../api/types.ts";

export type {
  UnpushedCommitResponse,
  ChangeCountsResponse,
  GitDiffResponse,
  RepositoryFaultResponse as FailedState,
  GitStatusResponse,
  RepositoryResponse,
  RepositoryStateResponse as ReadState,
} from "../../api/types.ts";
export type { FileChange };
export type Kind = FileChange["kind"];

/** One file of one repository, as the diff route asks for it. */
export interface Chosen {
  repo: string;
  path: string;
  kind: Kind;
}
