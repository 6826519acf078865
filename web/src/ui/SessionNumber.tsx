/** The digit that leads to a session with Alt; it shows while Alt is held. */
export function SessionNumber({ number }: { number: number | undefined }) {
  if (number === undefined) return null;
  return (
    <kbd class="session-number" aria-hidden="true" data-testid="session-number">
      {number}
    </kbd>
  );
}
