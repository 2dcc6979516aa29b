/** The audit of all tenants: who changed what, newest first. */
import type { Schemas } from "../api/client.js";
import { useApi } from "../api/use-api.js";
import { Download } from "../parts/download.js";
import { Shown } from "../parts/messages.js";
import { PageLinks, shownPage, useLastPage } from "../parts/pages.js";
import { DataTable, type TableColumn } from "../parts/table.js";
import { shownInstant } from "../state/days.js";
import { changed, go, type Place } from "../state/location.js";
import { en } from "../text/en.js";

const text = en.access;
type Entry = Schemas["AuditEntry"];
const filters = ["actor", "action"] as const;

const columns: readonly TableColumn<Entry>[] = [
  { key: "at", title: text.at, cell: ({ at }) => shownInstant(at) },
  { key: "actor", title: text.actor, cell: ({ actor }) => <bdi>{actor ?? text.nobody}</bdi> },
  { key: "action", title: text.action, cell: ({ action }) => action },
  { key: "tenant", title: text.tenant, cell: ({ tenant_name }) => tenant_name ?? "" },
  { key: "address", title: text.address, cell: ({ address }) => address ?? "" },
  {
    key: "details",
    title: text.details,
    wraps: true,
    cell: ({ subject }) => <code>{JSON.stringify(subject)}</code>,
  },
];

export function Audit({ place }: { readonly place: Place }) {
  const page = shownPage(place);
  const [actor, action] = filters.map((name) => place.query.get(name) ?? undefined);
  const query = { page, page_size: 100, ...(actor && { actor }), ...(action && { action }) };
  const data = useApi("/api/v1/audit", { query });
  useLastPage(place, data);
  return (
    <>
      <div class="title">
        <h1>{text.pages.audit}</h1>
        <span class="spring" />
        <Download href="/api/v1/audit/export">{text.exportAll}</Download>
      </div>
      <div class="controls">
        {filters.map((name) => (
          <label key={name}>
            {text[name]}{" "}
            <input
              type="search"
              value={place.query.get(name) ?? ""}
              // The filter is exact, so it applies when the whole word is there: on Enter, or when the focus leaves.
              onChange={({ currentTarget: { value } }) =>
                go(changed(place, { [name]: value === "" ? undefined : value, page: undefined }))
              }
            />
          </label>
        ))}
      </div>
      <section class="card">
        <Shown data={data}>
          {({ items, pages, total }) =>
            total === 0 ? (
              <p class="hint">{text.noEntries}</p>
            ) : (
              <>
                <DataTable
                  caption={text.pages.audit}
                  columns={columns}
                  rows={items}
                  keyOf={({ audit_id }) => String(audit_id)}
                />
                <PageLinks place={place} page={page} pages={pages} countText={text.entries(total)} />
              </>
            )
          }
        </Shown>
      </section>
    </>
  );
}
