import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Place } from "../state/location.js";

interface SheetProps {
  readonly place: Place;
  readonly id: string;
  /** Text of the button that opens it. */
  readonly title: string;
  readonly icon?: string;
  readonly children: ComponentChildren;
}

/** On a phone, a button that opens its content as a sheet. On larger screens, the content alone. */
export function Sheet({ place, id, title, icon, children }: SheetProps) {
  const sheet = useRef<HTMLDivElement>(null);
  useEffect(() => void sheet.current?.togglePopover(false), [place.path]);
  return (
    <>
      <button type="button" class="opener" popovertarget={id}>
        {icon !== undefined && <span aria-hidden="true">{icon} </span>}
        {title}
      </button>
      <div ref={sheet} id={id} class="sheet" popover="auto">
        {children}
      </div>
    </>
  );
}
