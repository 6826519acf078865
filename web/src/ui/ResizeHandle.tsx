/** The edge of what stands at the side, by pointer and by keys. */

interface Props {
  label: string;
  /** CSS pixels. */
  width: number;
  least: number;
  most: number;
  usual: number;
  /** It stands at the right of what it sizes, so that a way to the right makes that wider. */
  atEnd?: boolean;
  onWidth: (width: number) => void;
  testid: string;
}

/** CSS pixels of one arrow key. */
const STEP = 24;

export function ResizeHandle({ label, width, least, most, usual, atEnd = false, onWidth, testid }: Props) {
  const resize = (wanted: number) => onWidth(Math.max(least, Math.min(most, Math.round(wanted))));
  const sign = atEnd ? 1 : -1;
  const drag = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    const edge = event.currentTarget;
    const start = event.clientX;
    edge.setPointerCapture(event.pointerId);
    edge.onpointermove = (move) => resize(width + sign * (move.clientX - start));
    edge.onlostpointercapture = () => (edge.onpointermove = null);
  };
  const key = (event: KeyboardEvent) => {
    const wanted = {
      ArrowLeft: width - sign * STEP,
      ArrowRight: width + sign * STEP,
      Home: least,
      End: most,
    }[event.key];
    if (wanted === undefined) return;
    event.preventDefault();
    resize(wanted);
  };
  return (
    <div
      class="resize-handle"
      data-at-end={atEnd}
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={label}
      aria-valuenow={width}
      aria-valuemin={least}
      aria-valuemax={most}
      title="Drag, or use the arrow keys; double-click for the usual width"
      onPointerDown={drag}
      // What comes to lie below the pointer, such as a row, must not be dragged instead.
      onMouseDown={(event) => event.preventDefault()}
      onKeyDown={key}
      onDblClick={() => resize(usual)}
      data-testid={testid}
    />
  );
}
