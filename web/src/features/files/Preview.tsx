/** Previews whose code comes with the first one: of documents, and of PDF. */
import { lazySlot } from "../../ui/lazySlot.tsx";
import "./preview.css";

const waiting = (problem: string) =>
  problem === "" ? <p class="files-none">Loading…</p> : <p class="field-problem">{problem}</p>;

export const Preview = lazySlot(async () => (await import("./markdown/MarkdownView.tsx")).MarkdownView, {
  waiting,
});

export const PdfPreview = lazySlot(async () => (await import("./pdf/PdfView.tsx")).PdfView, { waiting });
