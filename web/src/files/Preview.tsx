/** The preview of a document, whose code comes with the first one. */
import type { ComponentProps, ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { sentenceOf } from "../api/errors.ts";
import type { MarkdownView } from "./markdown/MarkdownView.tsx";

type Props = ComponentProps<typeof MarkdownView>;

export function Preview(props: Props) {
  const [View, setView] = useState<ComponentType<Props>>();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let alive = true;
    import("./markdown/MarkdownView.tsx").then(
      ({ MarkdownView: loaded }) => alive && setView(() => loaded),
      (error: unknown) => alive && setProblem(sentenceOf(error)),
    );
    return () => {
      alive = false;
    };
  }, []);
  if (problem !== "") return <p class="field-problem">{problem}</p>;
  return View ? <View {...props} /> : <p class="files-none">Reading…</p>;
}
