/** Keeps the page as tall as what the on-screen keyboard leaves of it. */

export function followViewport(): void {
  const viewport = window.visualViewport;
  if (!viewport) return;
  const style = document.documentElement.style;
  const follow = () => {
    // Pinched in, the visual viewport is a detail of the page, not the room it has.
    if (viewport.scale > 1.01) return;
    style.setProperty("--app-height", `${viewport.height}px`);
    style.setProperty("--app-top", `${viewport.offsetTop}px`);
    const keyboard = window.innerHeight - viewport.height > 120;
    document.documentElement.toggleAttribute("data-keyboard", keyboard);
  };
  viewport.addEventListener("resize", follow);
  viewport.addEventListener("scroll", follow);
  follow();
}
