/** Follows links within the console. */
import { go } from "./location.js";

let arrival: MutationObserver | undefined;

/**
 * Goes to an address. If the page then shows something else, the focus moves to its heading, as if the browser had
 * loaded a page: the link is usually gone, and a screen reader says where the reader is.
 */
export function follow(href: string): void {
  arrival?.disconnect();
  if (!go(href)) return;
  // The next frame has the new view, unless its code still has to be loaded.
  requestAnimationFrame(() => {
    if (focusHeading()) return;
    arrival = new MutationObserver((_, observer) => {
      if (focusHeading()) observer.disconnect();
    });
    arrival.observe(document.body, { childList: true, subtree: true });
  });
}

function focusHeading(): boolean {
  const heading = document.querySelector<HTMLElement>("main h1");
  if (heading === null) return false;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  return true;
}
