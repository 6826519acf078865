/** Previews whose code comes with the first one: of documents, and of PDF. */
import type { ComponentProps, ComponentType } from "preact";
import type { MarkdownView } from "./markdown/MarkdownView.tsx";
import type { PdfView } from "./pdf/PdfView.tsx";
import { useView } from "./useView.ts";

function preview<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  return function Loaded(props: P) {
    const { View, problem } = useView(load);
    if (problem !== "") return <p class="field-problem">{problem}</p>;
    return View ? <View {...props} /> : <p class="files-none">Loading…</p>;
  };
}

export const Preview = preview<ComponentProps<typeof MarkdownView>>(
  async () => (await import("./markdown/MarkdownView.tsx")).MarkdownView,
);

export const PdfPreview = preview<ComponentProps<typeof PdfView>>(
  async () => (await import("./pdf/PdfView.tsx")).PdfView,
);
