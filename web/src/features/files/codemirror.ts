/** The editor, CodeMirror, in the colours of the page. Loaded with the first text that is opened. */
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { unifiedMergeView } from "@codemirror/merge";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Extension } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { languageOf } from "./languages.ts";
import { keepFrame, linesOf, replaceAll, textOf } from "./lineends.ts";

const THEME = EditorView.theme({
  "&": { height: "100%", backgroundColor: "var(--terminal)", color: "var(--text)", fontSize: "var(--f-2)" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--dim)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--hover)" },
  "&.cm-focused": { outline: "none" },
  ".cm-cursor": { borderLeftColor: "var(--accent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--line-strong)",
  },
  ".cm-panels": { backgroundColor: "var(--raised)", color: "var(--text)" },
  ".cm-searchMatch": { backgroundColor: "var(--warn-wash)" },
  ".cm-deletedChunk": { backgroundColor: "var(--bad-wash)" },
  ".cm-changedLine, .cm-insertedLine": { backgroundColor: "var(--accent-wash)" },
  "& .cm-chunkButtons button": { fontFamily: "var(--sans)" },
});

const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword], color: "var(--c-purple)" },
  { tag: [tags.string, tags.regexp, tags.special(tags.string)], color: "var(--c-green)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--c-orange)" },
  { tag: [tags.comment, tags.meta], color: "var(--dim)", fontStyle: "italic" },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], color: "var(--c-blue)" },
  { tag: [tags.typeName, tags.className, tags.tagName, tags.namespace], color: "var(--accent)" },
  { tag: [tags.attributeName, tags.definition(tags.propertyName)], color: "var(--c-blue)" },
  { tag: tags.heading, color: "var(--accent)", fontWeight: "bold" },
  { tag: tags.strong, fontWeight: "bold" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: [tags.link, tags.url], color: "var(--c-blue)", textDecoration: "underline" },
  { tag: tags.inserted, color: "var(--c-green)" },
  { tag: tags.deleted, color: "var(--c-red)" },
]);

export interface EditorOptions {
  path: string;
  content: string;
  editable: boolean;
  /** From 1. */
  line?: number | undefined;
  onChange: () => void;
  onSave: () => void;
}

export interface Editor {
  text: () => string;
  /** What another wrote, with one's own text marked against it; undefined: no longer. */
  compare: (other: string | undefined) => void;
  replace: (text: string) => void;
  close: () => void;
}

function changing({ editable, onChange, onSave }: EditorOptions): Extension[] {
  if (!editable) return [EditorState.readOnly.of(true)];
  const save = {
    key: "Mod-s",
    preventDefault: true,
    run: () => {
      onSave();
      return true;
    },
  };
  return [
    history(),
    indentOnInput(),
    keymap.of([save, ...historyKeymap, indentWithTab]),
    EditorView.updateListener.of((update) => update.docChanged && onChange()),
  ];
}

function extensionsOf(options: EditorOptions): Extension[] {
  const { content, path, editable } = options;
  return [
    lineNumbers(),
    highlightSpecialChars(),
    drawSelection(),
    bracketMatching(),
    highlightActiveLine(),
    highlightSelectionMatches(),
    search({ top: true }),
    syntaxHighlighting(COLOURS),
    THEME,
    changing(options),
    keymap.of([...searchKeymap, ...defaultKeymap]),
    keepFrame(content),
    EditorView.contentAttributes.of({
      "aria-label": `${editable ? "Text" : "Read-only text"} of ${path}`,
    }),
  ];
}

/** One's own text is what is edited: to reject a change of it is to take the other's. */
function mergeButton(type: "accept" | "reject", act: (event: MouseEvent) => void): HTMLElement {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button small";
  button.textContent = type === "accept" ? "Keep mine" : "Take theirs";
  button.addEventListener("click", act);
  return button;
}

function goTo(view: EditorView, line: number): void {
  const { from } = view.state.doc.line(Math.max(1, Math.min(line, view.state.doc.lines)));
  view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
}

export function openEditor(parent: HTMLElement, options: EditorOptions): Editor {
  const [language, merge] = [new Compartment(), new Compartment()];
  const view = new EditorView({
    parent,
    doc: linesOf(options.content),
    extensions: [extensionsOf(options), language.of([]), merge.of([])],
  });
  if (options.line !== undefined) goTo(view, options.line);
  let open = true;
  languageOf(options.path)?.().then(
    (found) => open && view.dispatch({ effects: language.reconfigure(found) }),
    (error: unknown) => console.warn("no syntax colours for this file", error),
  );
  return {
    text: () => textOf(view.state),
    compare: (other) => {
      const shown =
        other === undefined ? [] : unifiedMergeView({ original: linesOf(other), mergeControls: mergeButton });
      view.dispatch({ effects: merge.reconfigure(shown) });
    },
    replace: (text) => view.dispatch(replaceAll(view.state, text)),
    close: () => {
      open = false;
      view.destroy();
    },
  };
}
