/** Title, description and base of a pull request that is to be opened. */
import type { PullRequestResponse } from "../../../api/types.ts";
import { Button } from "../../../ui/Button.tsx";
import { Problem } from "../../../ui/Problem.tsx";
import { useForm } from "../../../ui/useForm.ts";
import { type Draft, openPullRequest } from "./calls.ts";

interface Props {
  session: string;
  repo: string;
  first: Draft;
  onClose: () => void;
  onOpened: (now: PullRequestResponse) => void;
}

export function PullRequestForm({ session, repo, first, onClose, onOpened }: Props) {
  const form = useForm<Draft>(
    first,
    async (wanted) => onOpened(await openPullRequest(session, repo, wanted)),
    { validate: ({ title }) => (title.trim() === "" ? "Give it a title." : undefined) },
  );
  const { draft, set } = form;
  return (
    <form
      class="forge-form"
      aria-label="Pull request"
      onSubmit={(event) => void form.submit(event)}
      onKeyDown={(event) => event.stopPropagation()}
      data-testid="pull-form"
    >
      <label>
        <small>Title</small>
        <input
          class="field"
          value={draft.title}
          maxLength={250}
          dir="auto"
          onInput={(event) => set({ title: event.currentTarget.value })}
          data-testid="pull-title"
        />
      </label>
      <label>
        <small>Description</small>
        <textarea
          class="field"
          rows={4}
          value={draft.body}
          maxLength={60_000}
          dir="auto"
          onInput={(event) => set({ body: event.currentTarget.value })}
          data-testid="pull-body"
        />
      </label>
      <label>
        <small>Merge into</small>
        <input
          class="field"
          value={draft.base}
          maxLength={250}
          placeholder="the default branch"
          autocapitalize="off"
          spellcheck={false}
          onInput={(event) => set({ base: event.currentTarget.value })}
        />
      </label>
      <label>
        <small>Reviewers</small>
        <input
          class="field"
          value={draft.reviewers}
          maxLength={1000}
          placeholder="names, separated by spaces"
          autocapitalize="off"
          spellcheck={false}
          onInput={(event) => set({ reviewers: event.currentTarget.value })}
          data-testid="pull-reviewers"
        />
      </label>
      <label class="forge-check">
        <input
          type="checkbox"
          checked={draft.draft}
          onChange={(event) => set({ draft: event.currentTarget.checked })}
        />
        Draft
      </label>
      <small class="dim">Pushes the branch with your own git and its hooks first.</small>
      <Problem text={form.problem} testid="pull-problem" />
      <div class="forge-actions">
        <Button small submit primary disabled={form.busy} testid="pull-create">
          {form.busy ? "Opening…" : "Push and open"}
        </Button>
        <Button small onClick={onClose}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
