/** Whether the session gets a folder of its own on a branch of its own. */
import { PlainInput } from "../../ui/PlainInput.tsx";
import { useState } from "preact/hooks";

interface Props {
  branch: string;
  onBranch: (branch: string) => void;
}

export function Worktree({ branch, onBranch }: Props) {
  const [on, setOn] = useState(branch !== "");
  const turn = (next: boolean) => {
    setOn(next);
    if (!next) onBranch("");
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
        Use a separate git worktree (keeps agents out of each other's way)
      </label>
      {on && (
        <PlainInput
          value={branch}
          placeholder="Branch, for example fix/login"
          aria-label="Worktree branch"
          onText={onBranch}
          testid="worktree-branch"
        />
      )}
    </div>
  );
}
