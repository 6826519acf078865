/** Whether the palette is open, and its code, which is loaded when it is first wanted. */
import { signal } from "@preact/signals";

export const paletteOpen = signal(false);

export const togglePalette = (): void => {
  paletteOpen.value = !paletteOpen.value;
};
