/**
 * A status line at the bottom of a terminal. Other output goes above it and stays: the line is cleared, the text is
 * written, and the line is drawn again. Nothing but this line is ever cleared.
 */
import type { Terminal } from "./command.js";

export interface StatusLine {
  /** Replaces the line. */
  show(text: string): void;
  /** Writes whole lines above it. */
  write(text: string): void;
  /** Clears the line. */
  clear(): void;
}

const wipe = "\r\x1b[2K";
/** Disables wrapping, so that wide characters that do not fit are cut off and never start a second line. */
const unwrapped = (text: string) => `\x1b[?7l${text}\x1b[?7h`;
const usualWidth = 80;

export function statusLine(terminal: Terminal): StatusLine {
  let shown = "";
  const paint = () => {
    const width = (terminal.columns ?? usualWidth) - 1;
    const cut = shown.length > width ? `${shown.slice(0, width - 1)}…` : shown;
    return cut === "" ? "" : unwrapped(cut);
  };
  return {
    show(text) {
      if (text === shown) return;
      shown = text;
      terminal.write(wipe + paint());
    },
    write: (text) => void terminal.write(shown === "" ? text : wipe + text + paint()),
    clear() {
      if (shown !== "") terminal.write(wipe);
      shown = "";
    },
  };
}
