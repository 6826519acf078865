import { partsOf } from "./command.ts";

/** Longer ones are shown plain: the colours are a help for what one reads at a glance. */
const COLOURED_MOST = 4_000;

/**
 * A command as a block: what runs stands out from what it is given.
 * @param plain it is a path or a title, no command line.
 */
export function Command({ text, plain = false }: { text: string; plain?: boolean }) {
  if (plain || text.length > COLOURED_MOST) return <code class="command">{text}</code>;
  return (
    <code class="command">
      {partsOf(text).map((part, at) =>
        part.kind === "blank" ? (
          part.text
        ) : (
          <span key={at} data-word={part.kind}>
            {part.text}
          </span>
        ),
      )}
    </code>
  );
}
