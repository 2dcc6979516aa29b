/** The chargeback rows behind sums, each with a link to its explanation. */
import { exact } from "../../common/exact-decimal.js";
import type { Schemas } from "../api/client.js";
import { useApi } from "../api/use-api.js";
import { shownInstant } from "../state/days.js";
import { filterQuery, filtersOf } from "../state/filters.js";
import { changed, go, type Place } from "../state/location.js";
import { periodOf, periodParameters } from "../state/period.js";
import { columnName, en } from "../text/en.js";
import { whyParameter } from "./explain.js";
import { Link } from "./link.js";
import { Shown } from "./messages.js";
import { PageLinks, useLastPage } from "./pages.js";
import { DataTable, type TableColumn } from "./table.js";

const text = en.rows;
const PAGE_SIZE = 50;

type Row = Schemas["ChargebackRow"];

/** Closed until the user opens it. `rows` in the address is the page that is shown. */
export function Rows({ place, tenant }: { readonly place: Place; readonly tenant: string }) {
  const page = Math.max(0, Math.floor(Number(place.query.get("rows"))) || 0);
  return (
    <section class="card rows">
      <h2>{text.title}</h2>
      {page === 0 ? (
        <button type="button" onClick={() => go(changed(place, { rows: "1" }), { replace: true })}>
          {text.show}
        </button>
      ) : (
        <List place={place} tenant={tenant} page={page} />
      )}
    </section>
  );
}

function List({
  place,
  tenant,
  page,
}: {
  readonly place: Place;
  readonly tenant: string;
  readonly page: number;
}) {
  const query = {
    page,
    page_size: PAGE_SIZE,
    ...periodParameters(periodOf(place)),
    ...filterQuery(filtersOf(place)),
  };
  const data = useApi("/api/v1/tenants/{tenant_name}/chargebacks", { path: { tenant_name: tenant }, query });
  useLastPage(place, data, "rows");
  const plain = (
    key: "product_type" | "allocation_method",
    cell: (row: Row) => string,
  ): TableColumn<Row> => ({
    key,
    title: columnName(key),
    cell: (row) => <bdi>{cell(row)}</bdi>,
  });
  const columns: TableColumn<Row>[] = [
    { key: "timestamp", title: text.time, cell: ({ timestamp }) => shownInstant(timestamp) },
    {
      key: "identity",
      title: columnName("identity_id"),
      cell: (row) => <bdi>{row.identity_name ?? row.identity_id}</bdi>,
    },
    {
      key: "resource",
      title: columnName("resource_id"),
      cell: (row) => <bdi>{row.resource_name ?? row.resource_id}</bdi>,
    },
    plain("product_type", (row) => row.product_type),
    plain("allocation_method", (row) => {
      const method = text.methods[row.allocation_method] ?? row.allocation_method;
      return row.passed_from === "" ? method : text.passed(row.passed_from, method);
    }),
    {
      key: "amount",
      title: en.overview.amount,
      isNumber: true,
      leads: true,
      money: (row) => [{ value: exact(row.amount), currency: row.currency }],
    },
    {
      key: "why",
      title: "",
      cell: (row) => (
        <Link
          href={changed(place, { why: whyParameter(row) })}
          aria-label={text.whyOf(row.identity_id, row.amount)}
        >
          {text.why}
        </Link>
      ),
    },
    {
      key: "tags",
      title: "",
      cell: (row) => (
        <Link
          href={changed(place, { dimension: String(row.dimension_id) })}
          aria-label={text.tagsOf(row.identity_id, row.product_type)}
        >
          {en.views.tags}
        </Link>
      ),
    },
  ];
  return (
    <Shown data={data} height="20rem">
      {({ items, total, pages }) => (
        <>
          <DataTable caption={text.title} columns={columns} rows={items} keyOf={(row) => whyParameter(row)} />
          <PageLinks place={place} page={page} pages={pages} countText={text.count(total)} parameter="rows" />
        </>
      )}
    </Shown>
  );
}
