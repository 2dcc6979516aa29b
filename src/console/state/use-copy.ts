/** A button that copies a text, and says so. */
import { useState } from "preact/hooks";

interface Copying {
  readonly isCopied: boolean;
  /** `shown` is the element with the text. */
  readonly copy: (text: string, shown: Element | null) => Promise<void>;
}

export function useCopy(): Copying {
  const [isCopied, setCopied] = useState(false);
  const copy = async (text: string, shown: Element | null) => {
    if (shown === null) return;
    // Browsers offer the clipboard only on pages with TLS, and on this machine.
    if (isSecureContext) await navigator.clipboard.writeText(text);
    else {
      getSelection()?.selectAllChildren(shown);
      document.execCommand("copy");
    }
    setCopied(true);
  };
  return { isCopied, copy };
}
