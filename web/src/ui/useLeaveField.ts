import { useLayoutEffect } from "preact/hooks";

/**
 * Takes the focus from the terminal or field when something opens whose code may still be on its way:
 * what is typed for it must not go to a program.
 */
export function useLeaveField(opens: boolean): void {
  useLayoutEffect(() => {
    const focused = document.activeElement;
    if (opens && focused instanceof HTMLElement && focused.matches("input, textarea"))
      if (!focused.closest("dialog")) focused.blur();
  }, [opens]);
}
