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

export interface OpenQuestion extends Question {
  answer(value: string | undefined): void;
}

export const openQuestion = signal<OpenQuestion | undefined>(undefined);

/** @returns undefined when the person declined; a second question declines the first. */
export function askQuestion(question: Question): Promise<string | undefined> {
  openQuestion.value?.answer(undefined);
  return new Promise((resolve) => {
    openQuestion.value = {
      ...question,
      answer: (value) => {
        openQuestion.value = undefined;
        resolve(value);
      },
    };
  });
}
