/** Lines to copy, with a button that copies them. */
import { useRef } from "preact/hooks";
import { useCopy } from "../state/use-copy.js";
import { en } from "../text/en.js";

export function Copied({ lines }: { readonly lines: string }) {
  const shown = useRef<HTMLPreElement>(null);
  const { isCopied, copy } = useCopy();
  return (
    <div class="copied">
      <pre ref={shown}>{lines}</pre>
      <button type="button" onClick={() => copy(lines, shown.current)}>
        {isCopied ? en.assign.copied : en.assign.copy}
      </button>
    </div>
  );
}
