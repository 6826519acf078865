/** Syntax colours of a text, by the parsers of the editor. Loaded with the first text that is coloured. */
import { Language, LanguageSupport } from "@codemirror/language";
import { highlightCode, tagHighlighter, tags } from "@lezer/highlight";
import { languageNamed, languageOf } from "./languages.ts";
import type { Colours, Token } from "./tokens.ts";

/** Characters of a text that is parsed; a longer one stays plain. */
export const LONGEST = 200_000;

const HIGHLIGHTER = tagHighlighter([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword], class: "syn-keyword" },
  { tag: [tags.string, tags.regexp, tags.special(tags.string), tags.inserted], class: "syn-string" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], class: "syn-number" },
  { tag: [tags.comment, tags.meta], class: "syn-comment" },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], class: "syn-name" },
  { tag: [tags.attributeName, tags.definition(tags.propertyName)], class: "syn-name" },
  { tag: [tags.typeName, tags.className, tags.tagName, tags.namespace, tags.heading], class: "syn-type" },
  { tag: [tags.link, tags.url], class: "syn-name" },
  { tag: tags.deleted, class: "syn-deleted" },
]);

/** @returns the tokens of each line; undefined for a plain or a very long text. */
export async function colourText(
  text: string,
  by: { path: string } | { name: string },
): Promise<Colours | undefined> {
  if (text.length > LONGEST) return undefined;
  const load = "path" in by ? languageOf(by.path) : languageNamed(by.name);
  const found = await load?.();
  const language = found instanceof LanguageSupport ? found.language : found;
  if (!(language instanceof Language)) return undefined;
  const lines: Token[][] = [[]];
  highlightCode(
    text,
    language.parser.parse(text),
    HIGHLIGHTER,
    (code, classes) => lines.at(-1)?.push({ text: code, kind: classes }),
    () => lines.push([]),
  );
  return lines;
}
