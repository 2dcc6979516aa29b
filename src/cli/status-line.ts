/**
 * One line at the bottom of a terminal that says how far a command is. Whatever else is written meanwhile goes above it and stays: the
 * line is wiped, the text written, and the line painted again. Nothing but this one line is ever wiped.
 */
import type { Terminal } from "./command.js";

export interface StatusLine {
  /** Replaces the line. */
  show(text: string): void;
  /** Writes whole lines above it. */
  write(text: string): void;
  /** Takes it away. */
  clear(): void;
}

const wipe = "\r\x1b[2K";
/** Without wrapping, so that wide letters that do not fit are cut off and never make a second line. */
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
