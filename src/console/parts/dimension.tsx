/** Drawer with one dimension and its tags. It is open while the address has `dimension`. */
import { useApi } from "../api/use-api.js";
import type { Place } from "../state/location.js";
import { columnName, en } from "../text/en.js";
import { Drawer } from "./drawer.js";
import { Empty, Shown } from "./messages.js";
import { DimensionTags } from "./tag-editor.js";

interface DimensionProps {
  readonly place: Place;
  readonly tenant: string;
  readonly dimension: string;
}

export function DimensionLink({ place, tenant, dimension }: DimensionProps) {
  const id = /^\d+$/.test(dimension) ? Number(dimension) : Number.NaN;
  return (
    <Drawer place={place} parameter="dimension" title={en.tags.ofDimension}>
      {Number.isSafeInteger(id) ? (
        <Fields tenant={tenant} dimension={id} />
      ) : (
        <Empty title={en.tags.noSuchDimension} />
      )}
    </Drawer>
  );
}

function Fields({ tenant, dimension }: { readonly tenant: string; readonly dimension: number }) {
  const path = { tenant_name: tenant, dimension_id: dimension };
  const data = useApi("/api/v1/tenants/{tenant_name}/chargebacks/{dimension_id}", { path });
  return (
    <Shown data={data} height="12rem">
      {(charge) => (
        <>
          <h2>{en.tags.ofDimension}</h2>
          <dl class="sums">
            {(
              [
                ["identity_id", charge.identity_name ?? charge.identity_id],
                ["product_type", charge.product_type],
                ["resource_id", charge.resource_name ?? charge.resource_id],
                ["environment_id", charge.env_id],
                ["cost_type", charge.cost_type],
              ] as const
            ).map(([column, value]) => (
              <div key={column}>
                <dt>{columnName(column)}</dt>
                <dd>
                  <bdi>{value === "" ? en.unnamed : value}</bdi>
                </dd>
              </div>
            ))}
          </dl>
          <DimensionTags tenant={tenant} dimension={dimension} />
        </>
      )}
    </Shown>
  );
}
