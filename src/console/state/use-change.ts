import { useState } from "preact/hooks";
import { reloadAll } from "./use-data.js";

/** Sends a change to the API. After success, all data in view is reloaded. */
export function useChange() {
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const change = async (write: () => Promise<unknown>, reload = reloadAll): Promise<boolean> => {
    setBusy(true);
    setError(undefined);
    try {
      await write();
      reload();
      return true;
    } catch (caught) {
      setError(caught);
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { error, isBusy, change };
}
