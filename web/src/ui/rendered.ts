/** Components as a person meets them, in tests. */
import { cleanup, render } from "@testing-library/preact";
import userEvent from "@testing-library/user-event";
import axe from "axe-core";
import type { ComponentChild } from "preact";
import { afterEach } from "vitest";

afterEach(cleanup);

/** @returns where the component is, and a person with a keyboard and a pointer. */
export function show(component: ComponentChild) {
  const { container } = render(component);
  return { container, user: userEvent.setup() };
}

/** What stands around the component in the page, and colours, which only a browser computes. */
const ELSEWHERE = ["region", "color-contrast", "page-has-heading-one"];
/** Letters and digits alone: axe leaves out signs, too. */
const wordsOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

/** Whoever speaks to the page says what is seen. Axe has that rule, but for what a browser has laid out. */
function listMismatches(container: Element): string[] {
  const named = [...container.querySelectorAll(":is(button, a, summary, [role=button])[aria-label]")];
  const differing = named.filter((each) => {
    const shown = each.cloneNode(true) as Element;
    for (const unseen of shown.querySelectorAll("[aria-hidden=true], .offscreen, .sr-only")) unseen.remove();
    return !wordsOf(each.getAttribute("aria-label") ?? "").includes(wordsOf(shown.textContent));
  });
  return differing.map(({ outerHTML }) => `label-content-name-mismatch: ${outerHTML}`);
}

/** @returns the rules for accessibility that the component breaks, and where. */
export async function listViolations(container: Element): Promise<string[]> {
  const rules = Object.fromEntries(ELSEWHERE.map((id) => [id, { enabled: false }]));
  // There are no style sheets to be fetched.
  const { violations } = await axe.run(container, { preload: false, resultTypes: ["violations"], rules });
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
  return [...found, ...listMismatches(container)];
}
