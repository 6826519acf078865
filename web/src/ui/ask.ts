/** A question to the person, answered in a dialog. */
import { signal } from "@preact/signals";

export interface Question {
  title: string;
  text: string;
  action: string;
  danger?: boolean;
  /** Text to look at before agreeing. */
  preview?: string;
  /** Asks for text; the answer is that text, otherwise an empty string. */
  input?: "line" | "multiline";
  initial?: string;
  /** A second way to agree, answered as its own label. */
  other?: string;
}

export interface Asked extends Question {
  answer(value: string | undefined): void;
}

export const asked = signal<Asked | undefined>(undefined);

/** @returns undefined when the person declined; a second question declines the first. */
export function ask(question: Question): Promise<string | undefined> {
  asked.value?.answer(undefined);
  return new Promise((resolve) => {
    asked.value = {
      ...question,
      answer: (value) => {
        asked.value = undefined;
        resolve(value);
      },
    };
  });
}
