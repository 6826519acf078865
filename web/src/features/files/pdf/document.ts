/**
 * A PDF as pdf.js reads it: in a worker of its own, which ends with it. Nothing of a document runs: its
 * scripts, forms and links are never made, and no address in it is ever asked.
 */
import {
  AnnotationMode,
  getDocument,
  type PageViewport,
  type PDFDocumentProxy,
  type PDFPageProxy,
  PDFWorker,
  TextLayer,
  VerbosityLevel,
} from "pdfjs-dist/legacy/build/pdf.mjs";
import Parser from "pdfjs-dist/legacy/build/pdf.worker.min.mjs?worker";
import { serviceUrl } from "../../../api/paths.ts";
import { PIXELS_MAX, sharpness, type Size, sizeOf } from "./layout.ts";

export interface Pdf {
  pages: number;
  /** Of its first page. */
  size: Size;
  document: PDFDocumentProxy;
}

/** What pdf.js needs beside its code, from the service alone (`build/pdf.ts`). */
const part = (name: string): string => serviceUrl(`pdf/${name}/`, document.baseURI);

/**
 * @param end closes it, also while it is being opened.
 * @throws what `faultOf` has words for.
 */
export async function openPdf(data: Uint8Array, end: AbortSignal): Promise<Pdf> {
  end.throwIfAborted();
  const parser = new Parser();
  const worker = PDFWorker.create({ port: parser, verbosity: VerbosityLevel.ERRORS });
  const task = getDocument({
    data,
    worker,
    verbosity: VerbosityLevel.ERRORS,
    enableXfa: false,
    // The page's policy lets no WebAssembly run; what takes its place is slower.
    useWasm: false,
    wasmUrl: part("wasm"),
    cMapUrl: part("cmaps"),
    // The service's own fonts for what is not in a file, so that it looks the same everywhere.
    useSystemFonts: false,
    standardFontDataUrl: part("standard_fonts"),
    disableWorkerRendering: true,
    maxImageSize: 8 * PIXELS_MAX,
    canvasMaxAreaInBytes: 4 * PIXELS_MAX,
  });
  const close = (): void => {
    // Ends it also where a document keeps the parser busy for ever.
    parser.terminate();
    task.destroy().catch(() => undefined);
  };
  end.addEventListener("abort", close, { once: true });
  const opened = await Promise.race([task.promise, died(parser)]);
  const first = await opened.getPage(1);
  return { pages: opened.numPages, size: seen(first), document: opened };
}

const died = (parser: Worker): Promise<never> =>
  new Promise((_, reject) => {
    parser.addEventListener("error", () => reject(new Error("Couldn't start the PDF viewer.")), {
      once: true,
    });
  });

const seen = (page: PDFPageProxy): Size => sizeOf(page.getViewport({ scale: 1 }));

export interface Drawn {
  size: Size;
  canvas: HTMLCanvasElement;
  text: HTMLElement;
}

/** One page at a scale, with its text above it for the selection. */
export async function drawPage(pdf: Pdf, number: number, scale: number, end: AbortSignal): Promise<Drawn> {
  const page = await pdf.document.getPage(number);
  end.throwIfAborted();
  const size = seen(page);
  const viewport = page.getViewport({ scale });
  const canvas = await paint(page, viewport, sharpness(size, scale, devicePixelRatio), end);
  const text = await layText(page, viewport, end);
  return { size, canvas, text };
}

async function paint(
  page: PDFPageProxy,
  viewport: PageViewport,
  sharp: number,
  end: AbortSignal,
): Promise<HTMLCanvasElement> {
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.floor(viewport.width * sharp));
  canvas.height = Math.max(1, Math.floor(viewport.height * sharp));
  const transform = [sharp, 0, 0, sharp, 0, 0];
  const task = page.render({ canvas, viewport, transform, annotationMode: AnnotationMode.ENABLE });
  const stop = (): void => task.cancel();
  end.addEventListener("abort", stop, { once: true });
  try {
    await task.promise;
  } finally {
    end.removeEventListener("abort", stop);
    page.cleanup();
  }
  return canvas;
}

async function layText(page: PDFPageProxy, viewport: PageViewport, end: AbortSignal): Promise<HTMLElement> {
  const container = document.createElement("div");
  container.className = "pdf-text";
  const layer = new TextLayer({ textContentSource: page.streamTextContent(), container, viewport });
  const stop = (): void => layer.cancel();
  end.addEventListener("abort", stop, { once: true });
  try {
    await layer.render();
  } finally {
    end.removeEventListener("abort", stop);
  }
  return container;
}
