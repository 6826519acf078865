import type { ComponentChildren } from "preact";
import type { Token } from "./tokens.ts";

/** Coloured parts of a line; `draw` changes what is written, never what is parsed. */
export function Tokens({
  tokens,
  draw = (text) => text,
}: {
  tokens: readonly Token[];
  draw?: (text: string) => ComponentChildren;
}) {
  return (
    <>
      {tokens.map(({ text, kind }, at) =>
        kind === "" ? (
          draw(text)
        ) : (
          <span key={at} class={kind}>
            {draw(text)}
          </span>
        ),
      )}
    </>
  );
}
