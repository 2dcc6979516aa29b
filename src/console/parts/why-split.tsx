/** The identities that share the cost, with their weights, and the exact arithmetic of one share. */
import { exact, exactText } from "../../common/exact-decimal.js";
import { groupDigits, quantityScale, shareText } from "../../common/figures.js";
import type { Schemas } from "../api/client.js";
import { approximate } from "../money/amount-text.js";
import { en } from "../text/en.js";
import { DataTable, type TableColumn } from "./table.js";
import { componentOf, productText } from "./why-strip.js";

const text = en.explain;

type Explanation = Schemas["Explanation"];
type Recipient = Schemas["Recipient"];

/** The recipients on this page. The explained identity is added if it is on another page. */
export function Recipients({ explanation }: { readonly explanation: Explanation }) {
  const { recipients, this: own, row, split, weight_unit: unit } = explanation;
  const isOnPage = recipients.items.some(({ identity_id }) => identity_id === own.identity_id);
  const isCurrency = unit !== null && unit !== "bytes";
  const scale = split === null ? undefined : quantityScale(exact(split.total_weight), unit === "bytes");
  const columns: TableColumn<Recipient>[] = [
    {
      key: "identity",
      title: en.columns.identity_id ?? "",
      cell: (each) => {
        const name = <bdi>{each.identity_name ?? each.identity_id}</bdi>;
        return each.identity_id === own.identity_id ? <strong>{name}</strong> : name;
      },
    },
    isCurrency
      ? {
          key: "weight",
          title: en.inCurrency(text.weight, unit),
          isNumber: true,
          money: ({ weight }) =>
            weight === null ? [] : [{ value: exact(weight), currency: unit, isNamed: true }],
        }
      : {
          key: "weight",
          title:
            scale === undefined || scale.unit === "" ? text.weight : en.inCurrency(text.weight, scale.unit),
          isNumber: true,
          cell: ({ weight }) =>
            weight !== null && (
              <span title={weight} data-exact={weight}>
                {scale?.text(exact(weight))}
              </span>
            ),
        },
    {
      key: "share",
      title: en.overview.share,
      isNumber: true,
      cell: ({ share }) => share !== null && <Bar share={share} />,
    },
    {
      key: "amount",
      title: en.inCurrency(en.overview.amount, row.currency),
      isNumber: true,
      leads: true,
      money: ({ amount }) => [{ value: exact(amount), currency: row.currency, isNamed: true }],
    },
  ];
  return (
    <DataTable
      caption={text.shares(recipients.total)}
      columns={columns}
      rows={isOnPage ? recipients.items : [own, ...recipients.items]}
      keyOf={({ identity_id }) => identity_id}
    />
  );
}

function Bar({ share }: { readonly share: string }) {
  const percent = 100 * approximate(exact(share));
  return (
    <span class="share">
      {shareText(exact(share))}
      <span class="bar color-1" aria-hidden="true" style={{ width: `${Math.min(100, percent)}%` }} />
    </span>
  );
}

/** Every step of the calculation with all its digits. Closed until the user opens it. */
export function Arithmetic({ explanation }: { readonly explanation: Explanation }) {
  const { line, rule, row, split, this: own, recipients } = explanation;
  const { currency } = row;
  const explained = componentOf(explanation);
  return (
    <details class="arithmetic">
      <summary>{text.exactly}</summary>
      <ul>
        {line !== null && (
          <li>
            {text.line}: <PricedLine line={line} />
          </li>
        )}
        {rule?.components.map((each) => (
          <li key={each.component}>
            {text.ratio(each.ratio)} {groupDigits(each.amount)} {currency}
            {each === explained && <strong> {text.thisOne}</strong>}
          </li>
        ))}
        {split !== null && recipients.total > 1 && (
          <li>
            <Ticks own={own} split={split} />
          </li>
        )}
        <li>
          {text.amount}: <strong>{`${groupDigits(exactText(exact(own.amount)))} ${currency}`}</strong>
        </li>
      </ul>
    </details>
  );
}

function PricedLine({ line }: { readonly line: NonNullable<Explanation["line"]> }) {
  const { priced, total_cost, currency } = line;
  const total = `${groupDigits(total_cost)} ${currency}`;
  if (priced === null) return <>{total}</>;
  const products = priced.products.map(productText).join(" + ");
  const reductions = priced.reductions.map(({ kind, amount }) =>
    amount.startsWith("-")
      ? ` + ${groupDigits(amount.slice(1))} (${text.reductions[kind]})`
      : ` − ${groupDigits(amount)} (${text.reductions[kind]})`,
  );
  return <>{`${products}${reductions.join("")} = ${total}`}</>;
}

interface TicksProps {
  readonly own: Recipient;
  readonly split: NonNullable<Explanation["split"]>;
}

/** The calculation of the identity's part, in whole ticks. */
function Ticks({ own, split }: TicksProps) {
  return (
    <>
      {text.arithmetic({
        ticks: groupDigits(split.component_ticks),
        tick: split.tick,
        upTo: groupDigits(own.weight_up_to ?? ""),
        weight: groupDigits(own.weight ?? ""),
        total: groupDigits(split.total_weight),
        offset: groupDigits(split.rounding_offset),
        own: groupDigits(own.ticks ?? ""),
      })}{" "}
      {own.has_residue === true && split.residue !== "0" && text.residue(split.residue)}
    </>
  );
}
