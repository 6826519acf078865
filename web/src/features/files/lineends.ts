/** A text as the bytes of its file have it: the editor's document has the lines, a field of its state the rest. */
import { invertedEffects } from "@codemirror/commands";
import {
  type ChangeSet,
  EditorState,
  type Extension,
  StateEffect,
  StateField,
  Text,
  type TransactionSpec,
} from "@codemirror/state";
import { EditorView } from "@codemirror/view";

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
