/** Holds the place of something that is on its way. */

interface Props {
  /** What it is, for those who do not see its outline. */
  label: string;
  rows: number;
}

export function Skeleton({ label, rows }: Props) {
  return (
    <div class="skeleton" role="status" aria-label={`Loading ${label}`}>
      {Array.from({ length: rows }, (_, row) => (
        <span key={row} />
      ))}
    </div>
  );
}
