import { announcement } from "./start.ts";

/** Says aloud what has just come up, for those who do not see the bell. */
export function Announcer() {
  return (
    <div class="sr-only" role="status" aria-live="polite" data-testid="announcer">
      {announcement.value}
    </div>
  );
}
