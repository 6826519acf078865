/** Asks a person what the service asks before a session gets a model (protocol-models). */
import { askQuestion } from "../../ui/ask.ts";
import { type Question, buildQuestion } from "./texts.ts";

/** @returns the field that says so; undefined where the person would rather not. */
export async function confirmModel(question: Question): Promise<string | undefined> {
  const { title, text, answer } = buildQuestion(question);
  const agreed = await askQuestion({ title, text, action: "Use anyway" });
  return agreed === undefined ? undefined : answer;
}
