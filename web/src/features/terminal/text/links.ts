/** Addresses in the output: opened by Ctrl+click (Cmd on a Mac) or a tap, never with an opener. */
import { WebLinksAddon } from "@xterm/addon-web-links";
import type { Terminal } from "@xterm/xterm";
import { isWebAddress } from "./address.ts";

const touched = (event: MouseEvent): boolean =>
  event instanceof PointerEvent ? event.pointerType === "touch" : matchMedia("(pointer: coarse)").matches;

/** A click alone is for selecting text. */
export const isWanted = (event: MouseEvent): boolean => event.ctrlKey || event.metaKey || touched(event);

function follow(event: MouseEvent, address: string): void {
  if (!isWanted(event)) return;
  if (isWebAddress(address)) open(address, "_blank", "noopener,noreferrer");
}

/** Shows what a link under the pointer leads to; undefined: none is there. */
export function showLinkTarget(terminal: Terminal, address: string | undefined): void {
  const element = terminal.element;
  if (!element) return;
  if (address === undefined) element.removeAttribute("title");
  else element.title = `${address}\nCtrl+click to open`;
}

export function addLinks(terminal: Terminal): void {
  const hover = (_event: MouseEvent, address: string) => showLinkTarget(terminal, address);
  const leave = () => showLinkTarget(terminal, undefined);
  terminal.loadAddon(new WebLinksAddon(follow, { hover, leave }));
  terminal.options.linkHandler = { activate: follow, hover, leave };
}
