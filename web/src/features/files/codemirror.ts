/** The editor, CodeMirror, in the colours of the page. Loaded with the first text that is opened. */
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import {
  type Extension,
  type ChangeSet,
  EditorState,
  StateEffect,
  StateField,
  Text,
  type TransactionSpec,
  Compartment,
} from "@codemirror/state";
import { invertedEffects, defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import {
  EditorView,
  drawSelection,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { unifiedMergeView } from "@codemirror/merge";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { tags } from "@lezer/highlight";
import { languageOf } from "../syntax/languages.ts";

const BOM = "\ufeff";

/** What of a file is no character of its lines. */
interface Frame {
  /** The byte order mark, or nothing. */
  mark: string;
  /** How each line ends but the last. */
  ends: readonly string[];
}

const markOf = (content: string): string => (content.startsWith(BOM) ? BOM : "");

const frameOf = (content: string): Frame => ({
  mark: markOf(content),
  ends: content.match(/\r?\n/g) ?? [],
});

/** The lines of a file. A CR that ends no line is one of its characters. */
export const linesOf = (content: string): Text =>
  Text.of(content.slice(markOf(content).length).split(/\r?\n/));

/** The frame of a text that is not typed. */
const setFrame = StateEffect.define<Frame>();

/** A new line ends like one that it replaces, else like the line that it parts, else like the one above. */
function changed(frame: Frame, before: Text, changes: ChangeSet): Frame {
  const { mark, ends } = frame;
  const after: string[] = [];
  let kept = 0;
  changes.iterChanges((from, to, _fromAfter, _toAfter, inserted) => {
    const first = before.lineAt(from).number - 1;
    const end = ends[first] ?? ends[first - 1] ?? "\n";
    after.push(...ends.slice(kept, first), ...Array<string>(inserted.lines - 1).fill(end));
    kept = before.lineAt(to).number - 1;
  });
  after.push(...ends.slice(kept));
  const same = after.length === ends.length && after.every((end, at) => end === ends[at]);
  return same ? frame : { mark, ends: after };
}

const field = StateField.define<Frame>({
  create: () => frameOf(""),
  update: (frame, { changes, docChanged, effects, startState }) => {
    // Of several that are undone at once the oldest comes last.
    const given = effects.filter((effect) => effect.is(setFrame)).at(-1);
    if (given) return given.value;
    return docChanged ? changed(frame, startState.doc, changes) : frame;
  },
});

/** Keeps what `linesOf` leaves out of `content`. */
export const keepFrame = (content: string): Extension => [
  field.init(() => frameOf(content)),
  invertedEffects.of(({ startState, state }) => {
    const frame = startState.field(field);
    return frame === state.field(field) ? [] : [setFrame.of(frame)];
  }),
  EditorState.lineSeparator.of("\n"),
  // What is pasted may come with the line ends of another system.
  EditorView.clipboardInputFilter.of((text) => text.replace(/\r\n/g, "\n")),
];

/** The text as it is to be saved. */
export function textOf(state: EditorState): string {
  const { mark, ends } = state.field(field);
  return mark + [...state.doc.iterLines()].map((line, at) => line + (ends[at] ?? "")).join("");
}

/** Puts another text in place of all. */
export const replaceAll = (state: EditorState, content: string): TransactionSpec => ({
  changes: { from: 0, to: state.doc.length, insert: linesOf(content) },
  effects: setFrame.of(frameOf(content)),
});

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
