/** The head of a statement: whose it is, of which days, how complete they are, and when it was made. */
import { useState } from "preact/hooks";
import { coverageOf } from "../../common/coverage.js";
import type { Schemas } from "../api/client.js";
import { dayCount, shownInstant } from "../state/days.js";
import type { Filter } from "../state/filters.js";
import type { Period } from "../state/period.js";
import type { Data } from "../state/use-data.js";
import { en } from "../text/en.js";
import { valuesInWords } from "../text/filter-words.js";
import { shownPeriod } from "./period-picker.js";
import type { Names } from "./whose.js";

const text = en.statement;

interface HeadProps {
  readonly tenant: string;
  readonly period: Period;
  readonly filters: readonly Filter[];
  readonly names: Names;
  readonly days: Data<Schemas["TrackingDate"][]>;
}

export function Letterhead({ tenant, period, filters, names, days }: HeadProps) {
  const wordsOf = (filter: Filter) =>
    valuesInWords(filter, (value) => {
      const name = names(filter.column, value);
      return name === undefined ? undefined : text.named(name, value);
    });
  const [made] = useState(() => new Date().toISOString());
  return (
    <div class="letterhead">
      <h1>
        <bdi class="long">{text.of(filters.map(wordsOf).join(", "))}</bdi>
      </h1>
      <dl>
        <div>
          <dt>{text.tenant}</dt>
          <dd>
            <bdi>{tenant}</bdi>
          </dd>
        </div>
        <div>
          <dt>{text.period}</dt>
          <dd>{shownPeriod(period)} UTC</dd>
        </div>
        <Completeness period={period} days={days} />
        <div>
          <dt>{text.made}</dt>
          <dd>{shownInstant(made)}</dd>
        </div>
      </dl>
    </div>
  );
}

/** How many days of the period are covered, and whether their costs may still change. */
function Completeness({ period, days: { value: days, isStale } }: Pick<HeadProps, "period" | "days">) {
  const coverage =
    days === undefined || isStale ? undefined : coverageOf(days, dayCount(period.first, period.last));
  return (
    <div>
      <dt>{text.state}</dt>
      <dd>
        <span role="note" class={coverage === undefined || coverage.state === "final" ? undefined : "unsure"}>
          {coverage === undefined ? "…" : text.coverage(coverage)}
        </span>
      </dd>
    </div>
  );
}
