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
const ELSEWHERE = ["region", "color-contrast", "heading-order", "page-has-heading-one"];

/** @returns the rules for accessibility that the component breaks, and where. */
export async function listViolations(container: Element): Promise<string[]> {
  const rules = Object.fromEntries(ELSEWHERE.map((id) => [id, { enabled: false }]));
  // There are no style sheets to be fetched.
  const { violations } = await axe.run(container, { preload: false, resultTypes: ["violations"], rules });
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}
