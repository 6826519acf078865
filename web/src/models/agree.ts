/** Asks a person what the service asks before a session gets a model (protocol-models). */
import { ask } from "../ui/ask.ts";
import { type Question, questionOf } from "./words.ts";

/** @returns the field that says so; undefined where the person would rather not. */
export async function agree(question: Question): Promise<string | undefined> {
  const { title, text, answer } = questionOf(question);
  const agreed = await ask({ title, text, action: "Use it all the same" });
  return agreed === undefined ? undefined : answer;
}
