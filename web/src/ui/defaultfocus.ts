/** Where the keyboard goes when what had it is gone. */
let home: () => void = () => {};

/** Name the place; the part of the page that owns it does this when it appears. */
export function setDefaultFocus(focus: () => void): void {
  home = focus;
}

export function restoreDefaultFocus(): void {
  home();
}
