/** The choice of the days to compare the period with: those before, a year earlier, or any others. */
import type { PeriodComparison } from "../api/comparison.js";
import { changed, go, type Place } from "../state/location.js";
import { comparedPeriod, comparisons, periodOf } from "../state/period.js";
import { en } from "../text/en.js";
import { comparedWith } from "./compared.js";
import { Choice, Day } from "./controls.js";

const text = en.explorer;

interface CompareProps {
  readonly place: Place;
  /** Undefined until the result has arrived, or if nothing is compared. */
  readonly comparison: PeriodComparison | undefined;
}

export function CompareChoice({ place, comparison }: CompareProps) {
  const chosen = comparisons.find((each) => each === place.query.get("compare"));
  const days = comparedPeriod(place);
  const choose = (compare: string) =>
    go(
      changed(place, {
        compare: compare === "" ? undefined : compare,
        compare_start: compare === "days" ? days?.first : undefined,
        compare_end: compare === "days" ? days?.last : undefined,
      }),
    );
  const change = (changes: Readonly<Record<string, string>>) =>
    go(changed(place, changes), { replace: true });
  return (
    <span class="compare">
      <Choice
        label={text.compare}
        value={chosen ?? ""}
        options={[["", text.nothing], ...comparisons.map((each) => [each, text.comparisons[each]] as const)]}
        onChoose={choose}
      />
      {chosen === "days" && days !== undefined && (
        <>
          <Day
            label={en.period.from}
            value={days.first}
            onInput={(compare_start) => change({ compare_start })}
          />
          <Day
            label={en.period.to}
            value={days.last}
            max={periodOf(place).first}
            onInput={(compare_end) => change({ compare_end })}
          />
        </>
      )}
      {comparison && <span class="hint">{comparedWith(comparison)}</span>}
    </span>
  );
}
