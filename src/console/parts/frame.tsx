/** Header around every view: navigation, the period and the menu. */
import type { ComponentChildren } from "preact";
import { useAcceptedCauses, useCauses } from "../api/questions.js";
import { useApi } from "../api/use-api.js";
import { filtersOf } from "../state/filters.js";
import { changed, datesAlone, go, type Place, withoutChoices } from "../state/location.js";
import { type TenantView, viewGroups, viewPath } from "../state/paths.js";
import { periodOf } from "../state/period.js";
import { en } from "../text/en.js";
import { filterInWords } from "../text/filter-words.js";
import { Link } from "./link.js";
import { Menu } from "./menu.js";
import { PeriodPicker, shownPeriod } from "./period-picker.js";
import { Sheet } from "./sheet.js";

interface FrameProps {
  readonly place: Place;
  /** Names of all tenants that the caller may see. */
  readonly tenants: readonly string[];
  readonly tenant?: string | undefined;
  readonly view?: TenantView | undefined;
  /** Whether the page shows costs of a period. */
  readonly hasPeriod: boolean;
  readonly children: ComponentChildren;
}

export function Frame({ place, tenants, tenant, view, hasPeriod, children }: FrameProps) {
  return (
    <>
      <a class="skip" href="#content">
        {en.frame.skip}
      </a>
      <header>
        <Link class="product" href="/" title={en.frame.home}>
          <span aria-hidden="true" class="mark" />
          <span class="name">{en.product}</span>
        </Link>
        {tenant !== undefined && (
          <Sheet place={place} id="views" icon="☰" title={en.views[view ?? "overview"]}>
            <Views place={place} tenants={tenants} tenant={tenant} view={view} />
          </Sheet>
        )}
        <span class="spring" />
        {hasPeriod && (
          <Sheet place={place} id="period" title={shownPeriod(periodOf(place))}>
            <PeriodPicker place={place} />
          </Sheet>
        )}
        <Menu place={place} />
      </header>
      <p class="unseen" role="status">
        {view !== undefined && [en.views[view], ...filtersOf(place).map(filterInWords)].join(", ")}
      </p>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
    </>
  );
}

type ViewsProps = Pick<FrameProps, "place" | "tenants" | "view"> & { readonly tenant: string };

function Views({ place, tenants, tenant, view }: ViewsProps) {
  const path = { tenant_name: tenant };
  const topicDates =
    useApi("/api/v1/tenants/{tenant_name}/topic-attributions/dates", { path }).value?.dates ?? [];
  const isShown = (each: TenantView) => each !== "topics" || view === "topics" || topicDates.length > 0;
  return (
    <>
      <select
        aria-label={en.frame.tenant}
        value={tenant}
        onChange={({ currentTarget }) =>
          // Filters name values of one tenant, so drop them.
          go(changed(datesAlone(place), {}, viewPath(currentTarget.value, view ?? "overview")))
        }
      >
        {tenants.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      <nav aria-label={tenant}>
        {viewGroups.map((group) => (
          <ul key={group[0]}>
            {group.filter(isShown).map((each) => (
              <li key={each}>
                <Link
                  href={changed(withoutChoices(place), {}, viewPath(tenant, each))}
                  aria-current={each === view ? "page" : undefined}
                >
                  {en.views[each]}
                  {each === "worklist" && <ToFix tenant={tenant} place={place} />}
                </Link>
              </li>
            ))}
          </ul>
        ))}
      </nav>
    </>
  );
}

/** The number of causes to remove in the period, without those that are accepted. */
function ToFix({ tenant, place }: Pick<ViewsProps, "tenant" | "place">) {
  const accepted = useAcceptedCauses(tenant);
  const { value, isStale } = useCauses(tenant, periodOf(place), accepted);
  if (value === undefined || isStale || accepted.value === undefined) return <span />;
  const count = value.totals.reduce((sum, { group_count: groups }) => sum + groups, 0);
  return <span>{` (${count.toLocaleString("en")})`}</span>;
}
