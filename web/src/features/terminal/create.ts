/** An xterm with the options and addons that every view of this page has. */
import { type ITerminalOptions, Terminal } from "@xterm/xterm";
import { isDark, type Prefs } from "../../store/prefs.ts";
import { monoFamily } from "../../ui/faces/faces.ts";
import { addLinks } from "./text/links.ts";
import { silenceReports } from "./text/reports.ts";
import { showDimReadable } from "./theme/dim.ts";
import { chosenPalette } from "./theme/storedpalettes.ts";
import { contrastOf, fontsOf, isDarkGround, themeOf } from "./theme/themes.ts";
import { countColumns } from "./text/unicodewidths.ts";
import { registerWidths, type TmuxWidths } from "./text/widths.ts";

/** Pixels that the scroll bar and the marks of a search take at the right. */
export const SCROLLBAR = 10;

export interface Screen {
  terminal: Terminal;
  widths: TmuxWidths;
}

export function optionsOf(prefs: Prefs, darkSystem: boolean, searching: boolean): ITerminalOptions {
  const palette = chosenPalette.value;
  const dark = isDarkGround(palette, isDark(prefs.theme, darkSystem));
  return {
    fontSize: prefs.fontSize,
    fontFamily: fontsOf(monoFamily.value),
    lineHeight: prefs.lineHeight / 100,
    scrollback: prefs.scrollback,
    cursorBlink: prefs.cursorBlink,
    macOptionIsMeta: prefs.optionIsMeta,
    screenReaderMode: prefs.screenReader,
    theme: themeOf(palette, dark, searching),
    minimumContrastRatio: contrastOf(dark),
  };
}

export function createScreen(prefs: Prefs, darkSystem: boolean, searching = false): Screen {
  const terminal = new Terminal({
    ...optionsOf(prefs, darkSystem, searching),
    allowProposedApi: true,
    customGlyphs: true,
    rescaleOverlappingGlyphs: true,
    cursorInactiveStyle: "outline",
    drawBoldTextInBrightColors: false,
    macOptionClickForcesSelection: true,
    scrollOnUserInput: true,
    overviewRuler: { width: SCROLLBAR },
  });
  const widths = registerWidths(terminal.unicode, countColumns);
  silenceReports(terminal.parser);
  showDimReadable(terminal);
  addLinks(terminal);
  return { terminal, widths };
}

/** Long enough for the first report of an observer, which comes with the next frame (ms). */
const REPORT_MS = 300;

/**
 * The WebGL renderer sizes its canvas by the browser's count of device pixels. Emulated screens
 * (developer tools, test drivers) count those of the real one: then only a corner is drawn.
 */
function countsDevicePixels(element: HTMLElement): Promise<boolean> {
  return new Promise((resolve) => {
    const done = (answer: boolean) => {
      observer.disconnect();
      clearTimeout(patience);
      resolve(answer);
    };
    const observer = new ResizeObserver(([entry]) => {
      const counted = entry?.devicePixelContentBoxSize?.[0]?.inlineSize;
      const expected = (entry?.contentRect.width ?? 0) * devicePixelRatio;
      done(counted === undefined || Math.abs(counted - expected) < 2);
    });
    // Hidden, an element is not reported; nothing speaks against it then.
    const patience = setTimeout(() => done(true), REPORT_MS);
    try {
      observer.observe(element, { box: "device-pixel-content-box" });
    } catch {
      // A browser without that box leaves the renderer to count by itself.
      done(true);
    }
  });
}

/** Chromium counts its own as no caveat. */
const BY_PROCESSOR = /swiftshader|llvmpipe|softpipe|software|basic render/i;

/** Without a graphics card WebGL is worked out by the processor, three times as slowly as text. */
function hasGraphics(): boolean {
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("webgl2", { failIfMajorPerformanceCaveat: true });
  if (!context) return false;
  const names = context.getExtension("WEBGL_debug_renderer_info");
  const name = String(names && context.getParameter(names.UNMASKED_RENDERER_WEBGL));
  // A browser keeps only some sixteen contexts.
  context.getExtension("WEBGL_lose_context")?.loseContext();
  return !BY_PROCESSOR.test(name);
}

/** Asked once: it takes a context. */
let graphics: boolean | undefined;

/**
 * Draws with WebGL from the moment its code is there; the DOM renderer draws before, and stays
 * where WebGL is missing or slow, its context gets lost or it could not count the screen's pixels.
 */
export async function accelerate(
  terminal: Terminal,
  element: HTMLElement,
  alive: () => boolean,
): Promise<"webgl" | "dom"> {
  graphics ??= hasGraphics();
  if (!graphics) return "dom";
  try {
    const [{ WebglAddon }, counts] = await Promise.all([
      import("@xterm/addon-webgl"),
      countsDevicePixels(element),
    ]);
    if (!alive() || !counts) return "dom";
    const webgl = new WebglAddon();
    webgl.onContextLoss(() => webgl.dispose());
    terminal.loadAddon(webgl);
    return "webgl";
  } catch {
    return "dom";
  }
}

/** Frames stop while the page is hidden; the size can then wait no longer than a moment. */
export function nextFrame(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => resolve());
    setTimeout(resolve, 100);
  });
}

export function hostElement(sessionId: string): HTMLElement {
  const element = document.createElement("div");
  element.className = "terminal-host";
  element.dataset["testid"] = "terminal";
  element.dataset["session"] = sessionId;
  return element;
}
