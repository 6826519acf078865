/** Where one is in a document, and how large it is shown. */
import { IconButton } from "../../../ui/IconButton.tsx";
import { useDraftText } from "../../../ui/useDraftText.ts";
import { pageOf } from "./layout.ts";

interface Props {
  current: number;
  pages: number;
  percent: number;
  go: (page: number) => void;
  zoom: (by: 1 | -1) => void;
  fit: () => void;
}

export function PdfBar({ current, pages, percent, go, zoom, fit }: Props) {
  const { settle, ...typed } = useDraftText(String(current));
  const ask = (field: HTMLInputElement): void => {
    go(pageOf(field.value, pages) ?? current);
    field.value = String(pageOf(field.value, pages) ?? current);
    settle();
  };
  return (
    <div class="pdf-bar">
      <IconButton icon="up" label="Previous page" disabled={current <= 1} onClick={() => go(current - 1)} />
      <IconButton icon="down" label="Next page" disabled={current >= pages} onClick={() => go(current + 1)} />
      <label>
        <input
          class="field"
          aria-label="Page"
          inputMode="numeric"
          {...typed}
          onChange={(event) => ask(event.currentTarget)}
          onBlur={settle}
          data-testid="pdf-page"
        />
        <span data-testid="pdf-pages">of {pages}</span>
      </label>
      <span class="pdf-space" />
      <IconButton icon="shrink" label="Zoom out" keys="-" onClick={() => zoom(-1)} testid="pdf-smaller" />
      <button type="button" class="button small" title="Fit width  0" onClick={fit} data-testid="pdf-fit">
        {percent} %
      </button>
      <IconButton icon="grow" label="Zoom in" keys="+" onClick={() => zoom(1)} testid="pdf-larger" />
    </div>
  );
}
