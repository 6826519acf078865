/** The text of a line, with signs over its spaces and tabs where somebody wants to see them. */
import type { ComponentChildren } from "preact";
import { visible } from "../git/diff/diff.ts";
import { view } from "./state.ts";

/** A sign lies over the character itself, so that columns and copied text stay as they are. */
function Spaces({ text }: { text: string }) {
  return (
    <>
      {text.split(/( +|\t)/).map((part, at) =>
        at % 2 === 0 ? (
          part
        ) : (
          <span key={at} class="review-space" data-sign={part === "\t" ? "→" : "·".repeat(part.length)}>
            {part}
          </span>
        ),
      )}
    </>
  );
}

export function drawText(text: string): ComponentChildren {
  const written = visible(text);
  return view.value.spaces ? <Spaces text={written} /> : written;
}
