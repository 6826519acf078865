/** What is shown where there is no session. */
import { Brand } from "../ui/Brand.tsx";
import { lazySlot } from "../ui/lazySlot.tsx";

/** The page came from this device's own copy, or the service is away; the banner says which. */
export function NoConnection() {
  return (
    <section class="empty" data-testid="unreached">
      <Brand large />
      <h1>No connection</h1>
      <p>Your sessions keep running on the server. They appear here when you're connected again.</p>
    </section>
  );
}

/** Whoever has sessions never needs its code. */
export const Empty = lazySlot(async () => (await import("../features/firstrun/FirstPage.tsx")).FirstPage, {
  waiting: (problem) => (
    <section class="empty" aria-busy={problem === ""}>
      <Brand large />
      {problem !== "" && <p role="alert">{problem}</p>}
    </section>
  ),
});
