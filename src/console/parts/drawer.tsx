import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { changed, go, type Place } from "../state/location.js";
import { en } from "../text/en.js";

interface DrawerProps {
  readonly place: Place;
  /** Of the address: while it has it, the drawer is open. */
  readonly parameter: string;
  readonly title: string;
  readonly children: ComponentChildren;
}

/** Beside the view, for one thing of it. */
export function Drawer({ place, parameter, title, children }: DrawerProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const close = () => go(changed(place, { [parameter]: undefined }), { replace: true });
  return (
    <dialog ref={dialog} class="drawer" aria-label={title} onClose={close}>
      <button type="button" class="close" onClick={() => dialog.current?.close()}>
        {en.filters.close}
      </button>
      {children}
    </dialog>
  );
}
