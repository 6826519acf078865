/** An agent's to-do list in one line. */
import type { Session, TodoItem } from "../../api/types.ts";

const named = (word: string, todo: TodoItem | undefined): string =>
  todo ? ` ${word}: ${todo.doing ?? todo.text}.` : "";

/** How far it is, what it does now and what comes next. */
export function summarizeTodos(todos: NonNullable<Session["todos"]>): string {
  const done = todos.filter(({ status }) => status === "completed").length;
  const now = todos.findLast(({ status }) => status === "in_progress");
  const next = todos.find(({ status }) => status === "pending");
  return `${done} of ${todos.length} to-dos done.${named("Now", now)}${named("Next", next)}`;
}
