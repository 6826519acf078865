/** Whether the session gets a folder of its own on a branch of its own. */
import { PlainInput } from "../../ui/PlainInput.tsx";
import { useState } from "preact/hooks";
import "./worktree.css";

interface Props {
  branch: string;
  /** What the branch is called where nobody says otherwise. */
  suggested: string;
  onBranch: (branch: string) => void;
}

export function Worktree({ branch, suggested, onBranch }: Props) {
  const [turned, setOn] = useState(false);
  const on = turned || branch !== "";
  const turn = (next: boolean) => {
    setOn(next);
    onBranch(next ? suggested : "");
  };
  return (
    <div class="worktree">
      <label class="picker-check">
        <input
          type="checkbox"
          class="switch"
          checked={on}
          onChange={(event) => turn(event.currentTarget.checked)}
          data-testid="worktree"
        />
        Own git worktree, on branch
      </label>
      {on && (
        <PlainInput
          value={branch}
          placeholder={suggested}
          aria-label="Worktree branch"
          onText={onBranch}
          testid="worktree-branch"
        />
      )}
    </div>
  );
}
