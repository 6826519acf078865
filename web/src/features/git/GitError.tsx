/** Something could not be read: why, and once more. */
import { Icon } from "../../ui/Icon.tsx";
import { isTimeout, LONGEST_TIMEOUT } from "./texts.ts";

interface Props {
  problem: string;
  onRetry: (timeout?: number) => void;
}

export function GitError({ problem, onRetry }: Props) {
  const late = isTimeout(problem);
  return (
    <div class="git-trouble" data-testid="git-trouble">
      <p class="problem" role="alert">
        <Icon name="alert" /> {problem}
      </p>
      <button type="button" class="button small" onClick={() => onRetry(late ? LONGEST_TIMEOUT : undefined)}>
        {late ? "Try again with more time" : "Try again"}
      </button>
    </div>
  );
}
