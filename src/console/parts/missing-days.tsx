/** Unallocated lines, largest first, with the tag or the map entry that is missing. */
import { exact } from "../../common/exact-decimal.js";
import type { CauseParameters } from "../api/breakdown.js";
import type { Schemas } from "../api/client.js";
import { useApi } from "../api/use-api.js";
import { changed, datesAlone, type Place } from "../state/location.js";
import { viewPath } from "../state/paths.js";
import { periodOf, periodParameters } from "../state/period.js";
import { en } from "../text/en.js";
import { lacking as text } from "../text/lacking.js";
import { Link } from "./link.js";
import { Shown } from "./messages.js";
import { PageLinks, shownPage, useLastPage } from "./pages.js";
import { DataTable, type TableColumn } from "./table.js";

type Item = Schemas["WorklistItem"];
const PAGE = "lacking_page";

interface LackingProps {
  readonly place: Place;
  readonly tenant: string;
  /** Undefined while it is not known which causes are accepted. */
  readonly leftOut: Pick<CauseParameters, "not:cause"> | undefined;
}

/** Renders nothing if there are no such lines. */
export function Lacking({ place, tenant, leftOut }: LackingProps) {
  const page = shownPage(place, PAGE);
  const query = leftOut && { ...periodParameters(periodOf(place)), page, page_size: 50, ...leftOut };
  const data = useApi(
    "/api/v1/tenants/{tenant_name}/worklist",
    query && { path: { tenant_name: tenant }, query },
  );
  useLastPage(place, data, PAGE);
  const columns: TableColumn<Item>[] = [
    {
      key: "product",
      title: en.columns.product_type ?? "",
      cell: (item) => (
        <>
          <Link href={explorer(place, tenant, item)}>
            <bdi>{item.product_type}</bdi>
          </Link>
          <div class="hint" title={accountsOf(item)}>
            <bdi>{accountsOf(item)}</bdi>
          </div>
        </>
      ),
    },
    { key: "lacks", title: text.lacks, wraps: true, cell: lacksOf },
    {
      key: "example",
      title: text.example,
      cell: ({ example_resource_id: resource }) => <bdi title={resource}>{resource}</bdi>,
    },
    {
      key: "lines",
      title: text.lines,
      isNumber: true,
      cell: ({ line_count: lines }) => lines.toLocaleString("en"),
    },
    {
      key: "amount",
      title: en.overview.amount,
      isNumber: true,
      leads: true,
      money: ({ amount, currency }) => [{ value: exact(amount), currency }],
    },
  ];
  return (
    <Shown data={data} height="0">
      {({ items, total, pages }) =>
        items.length > 0 && (
          <section class="card">
            <h2>{text.title}</h2>
            <p class="hint">{text.lead}</p>
            <DataTable
              caption={text.title}
              columns={columns}
              rows={items}
              keyOf={(item) => JSON.stringify(item)}
            />
            <PageLinks
              place={place}
              page={page}
              pages={pages}
              countText={text.count(total)}
              parameter={PAGE}
            />
          </section>
        )
      }
    </Shown>
  );
}

function accountsOf({ account_id: account, environment_id: environment }: Item): string {
  return [account, environment].filter((id) => id !== "").join(" · ");
}

function explorer(place: Place, tenant: string, { product_type, environment_id, rule }: Item): string {
  const filters = { product_type, environment_id, rule, identity_id: "UNALLOCATED" };
  return changed(datesAlone(place), { ...filters, group_by: ["resource_id"] }, viewPath(tenant, "explorer"));
}

function lacksOf({ lacks, named_identity: named, allocation_detail: detail }: Item) {
  if (named !== "") return <bdi>{text.named(named)}</bdi>;
  if (lacks.length === 0) return en.worklist.reasons[detail].why;
  return (
    <div>
      {lacks.map((lack) => (
        <div key={JSON.stringify(lack)} title={lack.map}>
          <bdi>{text.lack(lack)}</bdi>
        </div>
      ))}
    </div>
  );
}
