/** The changes of a delivery: days, lines, and who pays more or less. */
import { useState } from "preact/hooks";
import { exact } from "../../common/exact-decimal.js";
import type { Schemas } from "../api/client.js";
import { useApi } from "../api/use-api.js";
import { shownDay } from "../state/days.js";
import { deliveries as text } from "../text/deliveries.js";
import { SignedAmount } from "./amount.js";
import { Shown } from "./messages.js";
import { DataTable } from "./table.js";

const MAX_PAYERS = 100;

interface ChangeProps {
  readonly tenant: string;
  readonly delivery: Schemas["Delivery"];
}

export function DeliveryChange({ tenant, delivery: { delivery_id: id, change } }: ChangeProps) {
  const [isOpen, setOpen] = useState(false);
  const { first_days: first, changed_days: days, sums } = change;
  if (first.length + days.length === 0) return <span class="hint">{text.noChange}</span>;
  return (
    <>
      {first.length > 0 && <div>{text.firstBill(first.length)}</div>}
      {days.length > 0 && (
        <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
          <summary>
            {text.changed(days.length, change)}
            {sums?.map(({ currency, amount }) => (
              <span key={currency}>
                {" "}
                <SignedAmount value={exact(amount)} currency={currency} />
              </span>
            ))}
          </summary>
          <p class="hint">{days.map((day) => shownDay(day)).join(", ")}</p>
          {change.has_other_causes && <p>{text.otherCauses}</p>}
          {change.together_with.length > 0 && <p>{text.together(change.together_with)}</p>}
          {sums === null && <p>{text.unknownPayers}</p>}
          {isOpen && <Payers tenant={tenant} id={id} />}
        </details>
      )}
    </>
  );
}

function Payers({ tenant, id }: { readonly tenant: string; readonly id: number }) {
  const data = useApi("/api/v1/tenants/{tenant_name}/deliveries/{delivery_id}/payers", {
    path: { tenant_name: tenant, delivery_id: id },
    query: { page_size: MAX_PAYERS },
  });
  return (
    <Shown data={data} height="6rem">
      {({ items, total }) =>
        total === 0 ? (
          <p>{text.samePayers}</p>
        ) : (
          <>
            <DataTable
              caption={text.payers}
              columns={[
                {
                  key: "identity",
                  title: text.payer,
                  cell: ({ identity_id: identity, identity_name: name }) => <bdi>{name ?? identity}</bdi>,
                },
                {
                  key: "amount",
                  title: text.paysMore,
                  isNumber: true,
                  leads: true,
                  money: ({ amount, currency }) => [{ value: exact(amount), currency }],
                },
              ]}
              rows={items}
              keyOf={({ identity_id: identity, currency }) => `${currency} ${identity}`}
            />
            {total > items.length && <p class="hint">{text.morePayers(total - items.length)}</p>}
          </>
        )
      }
    </Shown>
  );
}
