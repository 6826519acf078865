export function Brand({ large = false }: { large?: boolean }) {
  const size = large ? 48 : 24;
  return (
    <svg class="brand" width={size} height={size} viewBox="0 0 64 64" aria-hidden="true">
      <rect class="brand-ground" x="3" y="3" width="58" height="58" rx="15" />
      <path class="brand-caret" d="M18 21l11 11-11 11" />
      <path class="brand-line" d="M34 43h13" />
      <circle class="brand-light" cx="47" cy="20" r="4.5" />
    </svg>
  );
}
