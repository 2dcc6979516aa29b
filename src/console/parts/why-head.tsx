/** The sentence that says why, with what one may do with it, and links to what it names. */
import { useRef } from "preact/hooks";
import type { Schemas } from "../api/client.js";
import { changed, datesAlone, type Place } from "../state/location.js";
import { viewPath } from "../state/paths.js";
import { useCopy } from "../state/use-copy.js";
import { en, isIssueReason } from "../text/en.js";
import { Link } from "./link.js";

const text = en.explain;

type Explanation = Schemas["Explanation"];

interface HeadProps {
  readonly explanation: Explanation;
  readonly place: Place;
  readonly tenant: string;
}

export function WhyHead({ explanation, place, tenant }: HeadProps) {
  const sentence = useRef<HTMLHeadingElement>(null);
  const { isCopied, copy } = useCopy();
  return (
    <>
      <h2 ref={sentence} class="sentence">
        <bdi>{explanation.sentence}</bdi>
      </h2>
      <p class="actions">
        <button
          type="button"
          onClick={() => copy(`${explanation.sentence}\n${location.href}`, sentence.current)}
        >
          {isCopied ? text.copied : text.copy}
        </button>
        <button type="button" onClick={() => print()}>
          {en.statement.print}
        </button>
        <Links explanation={explanation} place={place} tenant={tenant} />
      </p>
    </>
  );
}

/** Only deliveries of files are listed, which FOCUS bills are. */
function Links({ explanation, place, tenant }: HeadProps) {
  const { date, identity_id, identity_name, ecosystem, row, rule } = explanation;
  const day = { start_date: date, end_date: date };
  const to = (view: Parameters<typeof viewPath>[1], changes: Record<string, string>) =>
    changed(datesAlone(place), changes, viewPath(tenant, view));
  const detail = row.allocation_detail;
  return (
    <>
      {rule !== null && <Link href={to("rules", day)}>{text.toRule}</Link>}
      {ecosystem === "focus" && <Link href={to("deliveries", {})}>{text.toDelivery}</Link>}
      {row.allocation_method === "terminal" && isIssueReason(detail) ? (
        <Link href={to("worklist", { ...day, allocation_detail: detail })}>{text.toWorklist}</Link>
      ) : (
        <Link href={to("statement", { identity_id })}>{text.toIdentity(identity_name ?? identity_id)}</Link>
      )}
    </>
  );
}
