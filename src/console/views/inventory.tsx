/** Resources and identities of the tenant, with their times, owners and costs. */
import { exact } from "../../common/exact-decimal.js";
import type { Schemas } from "../api/client.js";
import { useApi } from "../api/use-api.js";
import { AssignDrawer, AssignLink } from "../parts/assign.js";
import { Choice, narrow, PlaceSearch } from "../parts/controls.js";
import { VersionHistory } from "../parts/history.js";
import { Link } from "../parts/link.js";
import { Empty, Shown } from "../parts/messages.js";
import { PageLinks, shownPage, useLastPage } from "../parts/pages.js";
import { shownPeriod } from "../parts/period-picker.js";
import { DataTable, type TableColumn } from "../parts/table.js";
import { shownDay, shownInstant } from "../state/days.js";
import { changed, datesAlone, go, type Place } from "../state/location.js";
import { viewPath } from "../state/paths.js";
import { periodOf, periodParameters } from "../state/period.js";
import { en } from "../text/en.js";

const text = en.inventory;
const PAGE_SIZE = 100;

type Item = Schemas["InventoryCost"];
type Kind = "resources" | "identities";
type Order = `${"cost" | "name" | "type" | "created_at" | "deleted_at" | "last_seen_at"}.${"asc" | "desc"}`;

interface ViewProps {
  readonly place: Place;
  readonly tenant: string;
}

export function Inventory({ place, tenant }: ViewProps) {
  const kind: Kind = place.query.get("kind") === "identities" ? "identities" : "resources";
  const page = shownPage(place);
  const history = place.query.get("history");
  const inventory = useInventory(kind, place, tenant, page);
  useLastPage(place, inventory);
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
        <Status place={place} />
        <label>
          <input
            type="checkbox"
            checked={showsCostless(place)}
            onChange={({ currentTarget }) => narrow(place, { costless: currentTarget.checked ? "true" : "" })}
          />{" "}
          {text.costless}
        </label>
      </div>
      <Shown data={inventory} isMain>
        {({ items, total, pages }) =>
          total === 0 ? (
            <Empty title={text.none}>
              <p>{showsCostless(place) ? text.noneHint : text.noCostHint}</p>
            </Empty>
          ) : (
            <section class="card">
              <DataTable
                caption={text.kinds[kind]}
                columns={columnsOf(kind, place, tenant)}
                rows={items}
                keyOf={({ id }) => id}
                order={orderOf(place)}
                onSort={(order) => go(changed(place, { order }), { replace: true })}
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

const orders = ["cost", "name", "type", "created_at", "deleted_at", "last_seen_at"].flatMap((key) => [
  `${key}.desc`,
  `${key}.asc`,
]) as Order[];

/** The order in the address. Default: the largest cost first. */
const orderOf = ({ query }: Place): Order =>
  orders.find((order) => order === query.get("order")) ?? "cost.desc";

const showsCostless = ({ query }: Place) => query.get("costless") === "true";

function useInventory(kind: Kind, place: Place, tenant: string, page: number) {
  const parameter = (name: string) => {
    const value = place.query.get(name);
    return value === null || value === "" ? {} : { [name]: value };
  };
  const query = {
    kind,
    page,
    page_size: PAGE_SIZE,
    ...periodParameters(periodOf(place)),
    ...parameter("search"),
    ...parameter("status"),
    ...parameter("type"),
    order: orderOf(place),
    ...(showsCostless(place) && { costless: true }),
  };
  return useApi("/api/v1/tenants/{tenant_name}/inventory/costs", { path: { tenant_name: tenant }, query });
}

function columnsOf(kind: Kind, place: Place, tenant: string): TableColumn<Item>[] {
  const column = kind === "resources" ? "resource_id" : "identity_id";
  const next = kind === "resources" ? "identity_id" : "resource_id";
  const explore = (id: string) =>
    changed(datesAlone(place), { [column]: id, group_by: next }, viewPath(tenant, "explorer"));
  const plain = (key: keyof Item & string, title: string, sortKey?: string): TableColumn<Item> => ({
    key,
    title,
    cell: (row) => (row[key] === null ? "" : <bdi>{row[key].toString()}</bdi>),
    ...(sortKey !== undefined && { sortKey }),
  });
  const instant = (key: "created_at" | "deleted_at" | "last_seen_at", title: string): TableColumn<Item> => ({
    key,
    title,
    sortKey: key,
    cell: (row) => {
      const value = row[key];
      return value === null ? "" : <time title={shownInstant(value)}>{shownDay(value.slice(0, 10))}</time>;
    },
  });
  return [
    {
      key: "name",
      title: text.name,
      sortKey: "name",
      cell: ({ id, display_name: name }) => (
        <>
          <Link href={explore(id)}>
            <bdi>{name ?? id}</bdi>
          </Link>
          {name !== null && (
            <span class="hint">
              {" "}
              <bdi>{id}</bdi>
            </span>
          )}
        </>
      ),
    },
    {
      key: "cost",
      title: text.cost,
      isNumber: true,
      leads: true,
      sortKey: "cost",
      money: ({ costs }) => costs.map(({ currency, amount }) => ({ value: exact(amount), currency })),
    },
    plain("type", text.type, "type"),
    ...(kind === "resources"
      ? [plain("owner_id", text.owner), plain("parent_id", text.parent)]
      : [plain("team", text.team)]),
    ...(kind === "resources"
      ? [{ key: "assign", title: "", cell: ({ id }: Item) => <AssignLink place={place} resource={id} /> }]
      : []),
    {
      key: "history",
      title: "",
      cell: ({ id }) => (
        <Link href={changed(place, { history: id })} aria-label={en.history.of(id)}>
          {en.history.title}
        </Link>
      ),
    },
    instant("created_at", text.created),
    instant("deleted_at", text.deleted),
    instant("last_seen_at", text.lastSeen),
  ];
}

/** Select of the existing types, with the number of items of each. */
function Types({ place, tenant, kind }: ViewProps & { readonly kind: Kind }) {
  const params = { path: { tenant_name: tenant } };
  const summary = useApi("/api/v1/tenants/{tenant_name}/inventory/summary", params);
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
