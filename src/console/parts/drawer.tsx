import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { changed, go, type Place } from "../state/location.js";
import { en } from "../text/en.js";

interface DrawerProps {
  readonly place: Place;
  /** Parameter of the address. The drawer is open while the address has it. */
  readonly parameter: string;
  readonly title: string;
  /** Has tables of several columns. */
  readonly isWide?: boolean;
  readonly children: ComponentChildren;
}

/** A modal dialog next to the view. Closing it removes its parameter from the address. */
export function Drawer({ place, parameter, title, isWide = false, children }: DrawerProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const close = () => go(changed(place, { [parameter]: undefined }), { replace: true });
  return (
    <dialog ref={dialog} class={isWide ? "drawer wide" : "drawer"} aria-label={title} onClose={close}>
      <button type="button" class="close" onClick={() => dialog.current?.close()}>
        {en.filters.close}
      </button>
      {children}
    </dialog>
  );
}
