import { useEffect, useState } from "preact/hooks";

/** A text that has not changed for a moment: what is asked for while somebody types. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), 200);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
