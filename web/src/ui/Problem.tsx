import { Icon } from "./Icon.tsx";

/** What went wrong, said aloud; the place stays in the page, so that screen readers hear it. */
export function Problem({ text, testid }: { text: string; testid?: string }) {
  return (
    <div role="alert" class="problem-place">
      {text !== "" && (
        <p class="problem" data-testid={testid}>
          <Icon name="alert" /> <span>{text}</span>
        </p>
      )}
    </div>
  );
}
