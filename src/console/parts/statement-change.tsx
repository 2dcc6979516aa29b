/** How a statement changed against the period before, with the largest reasons. */
import { type ComparedChange, useSumChange } from "../api/change.js";
import type { Filter } from "../state/filters.js";
import type { Place } from "../state/location.js";
import type { Period } from "../state/period.js";
import { en } from "../text/en.js";
import { ComparedNotes } from "./compared.js";
import { Shown } from "./messages.js";
import { useSentence } from "./why-sentence.js";
import { WhySumLink } from "./why-sum-link.js";

interface ChangeProps {
  readonly place: Place;
  readonly tenant: string;
  readonly period: Period;
  readonly filters: readonly Filter[];
  readonly currency: string;
}

export function StatementChange(props: ChangeProps) {
  const change = useSumChange(props);
  return (
    <Shown data={change} height="5rem">
      {(loaded) => <Sentence {...props} change={loaded} />}
    </Shown>
  );
}

function Sentence({ change, ...props }: ChangeProps & { readonly change: ComparedChange }) {
  const { place, currency } = props;
  const totals = change.lines.totals.find((each) => each.currency === currency);
  const sentence = useSentence({ ...props, change, totals });
  return (
    <>
      <p class="change-sentence">
        <bdi>{sentence}</bdi> <WhySumLink place={place} currency={currency} name={en.statement.charged} />
      </p>
      <ComparedNotes comparison={change.comparison} />
    </>
  );
}
