/** Syntax colours of a text once it comes near the window. */
import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Colours } from "./tokens.ts";
import "./syntax.css";

const NEAR = "400px 0px";

function whenNear(place: Element, act: () => void): () => void {
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      observer.disconnect();
      act();
    },
    { rootMargin: NEAR },
  );
  observer.observe(place);
  return () => observer.disconnect();
}

interface Found {
  key: string;
  texts: readonly string[];
  all: readonly (Colours | undefined)[];
}

/**
 * @param texts that are parsed apart from each other.
 * @param key by which the language is known: the path of a file, or its name behind a `:`.
 * @returns the colours of each text; undefined while there are none.
 */
export function useColours(
  place: RefObject<Element | null>,
  texts: readonly string[],
  key: string,
): readonly (Colours | undefined)[] | undefined {
  const [found, setFound] = useState<Found>();
  useEffect(() => {
    let open = true;
    if (!place.current) return;
    const colour = async () => {
      const { colourText } = await import("./highlight.ts");
      const by = key.startsWith(":") ? { name: key.slice(1) } : { path: key };
      const all = await Promise.all(texts.map((text) => colourText(text, by)));
      if (open) setFound({ key, texts, all });
    };
    const end = whenNear(place.current, () => {
      colour().catch((error: unknown) => console.warn("no syntax colours for this text", error));
    });
    return () => {
      open = false;
      end();
    };
  }, [key, ...texts]);
  const isOfThese = found?.key === key && texts.every((text, at) => found.texts[at] === text);
  return isOfThese ? found.all : undefined;
}
