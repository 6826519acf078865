/** The tab's icon carries a dot while somebody is needed. */

export function showDot(on: boolean): void {
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  const href = on ? "./icons/icon-alert.svg" : "./icons/icon.svg";
  if (link && link.getAttribute("href") !== href) link.setAttribute("href", href);
}
