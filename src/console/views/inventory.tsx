/** Resources and identities of the tenant, with their times, owners and costs. */
import {
  type BreakdownRequest,
  type BreakdownRow,
  breakdownKey,
  bucketAmount,
  loadBreakdown,
} from "../api/breakdown.js";
import { api, bodyOf, type Schemas } from "../api/client.js";
import { AssignDrawer, AssignLink } from "../parts/assign.js";
import { Choice, narrow, PlaceSearch } from "../parts/controls.js";
import { VersionHistory } from "../parts/history.js";
import { Link } from "../parts/link.js";
import { Empty, Shown } from "../parts/messages.js";
import { PageLinks, shownPage, useLastPage } from "../parts/pages.js";
import { shownPeriod } from "../parts/period-picker.js";
import { DataTable, type TableColumn } from "../parts/table.js";
import { shownDay, shownInstant } from "../state/days.js";
import { changed, datesAlone, type Place } from "../state/location.js";
import { viewPath } from "../state/paths.js";
import { periodOf } from "../state/period.js";
import { type Data, useData } from "../state/use-data.js";
import { en } from "../text/en.js";

const text = en.inventory;
const PAGE_SIZE = 100;

type Resource = Schemas["Resource"];
type Identity = Schemas["Identity"];
type Item = Resource | Identity;
type Kind = "resources" | "identities";

interface ViewProps {
  readonly place: Place;
  readonly tenant: string;
}

const idOf = (row: Item) => ("resource_id" in row ? row.resource_id : row.identity_id);

export function Inventory({ place, tenant }: ViewProps) {
  const kind: Kind = place.query.get("kind") === "identities" ? "identities" : "resources";
  const page = shownPage(place);
  const history = place.query.get("history");
  const inventory = useInventory(kind, place, tenant, page);
  useLastPage(place, inventory);
  const costs = useCosts(kind, place, tenant, inventory.value?.items ?? []);
  return (
    <>
      <div class="title">
        <h1>{text.title}</h1>
        <span class="hint">{shownPeriod(periodOf(place))}</span>
      </div>
      <div class="controls">
        {(["resources", "identities"] as const).map((each) => (
          <Link
            key={each}
            class="tab"
            href={changed(place, { kind: each })}
            aria-current={each === kind ? "page" : undefined}
          >
            {text.kinds[each]}
          </Link>
        ))}
        <PlaceSearch key={kind} place={place} label={text.search} />
        <Types place={place} tenant={tenant} kind={kind} />
        {kind === "resources" && <Status place={place} />}
      </div>
      <Shown data={inventory} isMain>
        {({ items, total, pages }) =>
          total === 0 ? (
            <Empty title={text.none}>
              <p>{text.noneHint}</p>
            </Empty>
          ) : (
            <section class="card">
              <DataTable
                caption={text.kinds[kind]}
                columns={columnsOf(kind, place, tenant, costs.value)}
                rows={items}
                keyOf={idOf}
              />
              <PageLinks place={place} page={page} pages={pages} countText={text.count(total)} />
            </section>
          )
        }
      </Shown>
      <AssignDrawer place={place} tenant={tenant} />
      {history !== null && (
        <VersionHistory key={history} place={place} tenant={tenant} kind={kind} id={history} />
      )}
    </>
  );
}

interface Page {
  readonly items: readonly Item[];
  readonly total: number;
  readonly pages: number;
}

function useInventory(kind: Kind, { query }: Place, tenant: string, page: number): Data<Page> {
  const parameter = (name: string) => {
    const value = query.get(name);
    return value === null || value === "" ? {} : { [name]: value };
  };
  const type = query.get("type") ?? "";
  const typeName = kind === "resources" ? "resource_type" : "identity_type";
  const filters = {
    page,
    page_size: PAGE_SIZE,
    ...parameter("search"),
    ...(kind === "resources" ? parameter("status") : {}),
    ...(type === "" ? {} : { [typeName]: type }),
  };
  const params = { path: { tenant_name: tenant }, query: filters };
  return useData<Page>(JSON.stringify([kind, params]), (signal) =>
    kind === "resources"
      ? bodyOf(api.GET("/api/v1/tenants/{tenant_name}/resources", { params, signal }))
      : bodyOf(api.GET("/api/v1/tenants/{tenant_name}/identities", { params, signal })),
  );
}

/** Costs of the items on the page. */
function useCosts(
  kind: Kind,
  place: Place,
  tenant: string,
  items: readonly Item[],
): Data<readonly BreakdownRow[]> {
  const column = kind === "resources" ? "resource_id" : "identity_id";
  const values = items.map(idOf);
  const request: BreakdownRequest = {
    tenant,
    period: periodOf(place),
    groupBy: [column],
    limit: PAGE_SIZE,
    filters: [{ column, isExcluding: false, values }],
  };
  return useData(breakdownKey(request), async (signal) =>
    values.length === 0 ? [] : (await loadBreakdown(request, signal)).groups,
  );
}

function columnsOf(
  kind: Kind,
  place: Place,
  tenant: string,
  costs: readonly BreakdownRow[] | undefined,
): TableColumn<Item>[] {
  const column = kind === "resources" ? "resource_id" : "identity_id";
  const next = kind === "resources" ? "identity_id" : "resource_id";
  const explore = (id: string) =>
    changed(datesAlone(place), { [column]: id, group_by: next }, viewPath(tenant, "explorer"));
  const plain = (key: string, title: string, cell: (row: Item) => string | null): TableColumn<Item> => ({
    key,
    title,
    cell: (row) => <bdi>{cell(row) ?? ""}</bdi>,
  });
  const instant = (key: string, title: string, at: (row: Item) => string | null): TableColumn<Item> => ({
    key,
    title,
    cell: (row) => {
      const value = at(row);
      return value === null ? "" : <time title={shownInstant(value)}>{shownDay(value.slice(0, 10))}</time>;
    },
  });
  return [
    {
      key: "id",
      title: en.columns[column] ?? "",
      cell: (row) => (
        <Link href={explore(idOf(row))}>
          <bdi>{idOf(row)}</bdi>
        </Link>
      ),
    },
    {
      key: "cost",
      title: text.cost,
      isNumber: true,
      leads: true,
      money: (row) =>
        (costs ?? [])
          .filter((group) => group.dimensions[column] === idOf(row))
          .map((group) => ({ value: bucketAmount(group), currency: group.currency })),
    },
    plain("name", text.name, (row) => row.display_name),
    plain("type", text.type, (row) => ("resource_id" in row ? row.resource_type : row.identity_type)),
    ...(kind === "resources"
      ? [
          plain("parent", text.parent, (row) => ("resource_id" in row ? row.parent_id : "")),
          plain("owner", text.owner, (row) => ("resource_id" in row ? row.owner_id : "")),
        ]
      : [
          plain("team", text.team, (row) => (typeof row.metadata.team === "string" ? row.metadata.team : "")),
        ]),
    ...(kind === "resources"
      ? [{ key: "assign", title: "", cell: (row: Item) => <AssignLink place={place} resource={idOf(row)} /> }]
      : []),
    {
      key: "history",
      title: "",
      cell: (row) => (
        <Link href={changed(place, { history: idOf(row) })} aria-label={en.history.of(idOf(row))}>
          {en.history.title}
        </Link>
      ),
    },
    instant("created", text.created, (row) => row.created_at),
    instant("deleted", text.deleted, (row) => row.deleted_at),
    instant("last_seen", text.lastSeen, (row) => row.last_seen_at),
  ];
}

/** Select of the existing types, with the number of items of each. */
function Types({ place, tenant, kind }: ViewProps & { readonly kind: Kind }) {
  const params = { path: { tenant_name: tenant } };
  const summary = useData(JSON.stringify(["inventory summary", params]), (signal) =>
    bodyOf(api.GET("/api/v1/tenants/{tenant_name}/inventory/summary", { params, signal })),
  );
  const counts =
    (kind === "resources" ? summary.value?.resource_counts : summary.value?.identity_counts) ?? {};
  return (
    <Choice
      label={text.type}
      value={place.query.get("type") ?? ""}
      options={[
        ["", text.anyType],
        ...Object.entries(counts).map(
          ([type, { total }]) => [type, `${type} (${total.toLocaleString("en")})`] as const,
        ),
      ]}
      onChoose={(type) => narrow(place, { type })}
    />
  );
}

function Status({ place }: { readonly place: Place }) {
  return (
    <Choice
      label={text.status}
      value={place.query.get("status") ?? ""}
      options={[["", text.anyStatus], ...Object.entries(text.statuses)]}
      onChoose={(status) => narrow(place, { status })}
    />
  );
}
