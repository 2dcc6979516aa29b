/** Identities or teams to choose a statement of: the largest, and the number of others. */
import { useState } from "preact/hooks";
import {
  type BreakdownRequest,
  type BreakdownRow,
  bucketAmount,
  listed,
  type Others,
  statementsAddress,
  useBreakdown,
} from "../api/breakdown.js";
import { type Filter, filterParameters } from "../state/filters.js";
import { changed, go, type Place } from "../state/location.js";
import { periodOf } from "../state/period.js";
import { useSettled } from "../state/use-settled.js";
import { columnName, en } from "../text/en.js";
import { nameOf } from "./breakdown-chart.js";
import { Choice, SearchBox } from "./controls.js";
import { Download } from "./download.js";
import { Link } from "./link.js";
import { Empty, Shown } from "./messages.js";
import { NoCosts } from "./no-costs.js";
import { DataTable, type TableColumn } from "./table.js";

const text = en.statement;

type Payers = "identity_id" | "team";

interface ChoiceProps {
  readonly place: Place;
  readonly tenant: string;
}

export function StatementChoice({ place, tenant }: ChoiceProps) {
  const [search, setSearch] = useState("");
  const settledSearch = useSettled(search);
  const of: Payers = place.query.get("of") === "team" ? "team" : "identity_id";
  const request: BreakdownRequest = {
    tenant,
    period: periodOf(place),
    filters: [],
    groupBy: [of],
    limit: 50,
    search: settledSearch,
  };
  const data = useBreakdown(request);
  const columns: TableColumn<BreakdownRow | Others>[] = [
    {
      key: "identity",
      title: columnName(of),
      cell: (row) =>
        "dimensions" in row ? <ToStatement place={place} group={row} of={of} /> : text.more(row.group_count),
    },
    {
      key: "amount",
      title: text.charged,
      isNumber: true,
      leads: true,
      money: (row) => [{ value: bucketAmount(row), currency: row.currency }],
    },
  ];
  return (
    <section class="card">
      <h2>{text.choose}</h2>
      <p class="hint">{text.chooseHint}</p>
      <p class="controls">
        <Choice
          label={text.by}
          value={of}
          options={Object.entries(text.payers)}
          onChoose={(next) => go(changed(place, { of: next === "team" ? next : undefined }))}
        />
        <SearchBox label={text.search[of]} value={search} onInput={setSearch} />
        <Download href={statementsAddress(tenant, request.period, of)}>{text.zip[of]}</Download>
      </p>
      <Shown data={data} height="20rem">
        {(breakdown) =>
          breakdown.groups.length > 0 ? (
            <DataTable
              caption={text.choose}
              columns={columns}
              rows={breakdown.totals.flatMap(({ currency }) => {
                const { groups, others, unallocated } = listed(breakdown, currency);
                return [...groups, others, unallocated].filter((row) => row !== undefined);
              })}
              keyOf={(row) => JSON.stringify([row.currency, "dimensions" in row ? row.dimensions : null])}
            />
          ) : breakdown.request.search !== "" ? (
            <Empty title={text.noneFound[of]} />
          ) : (
            <NoCosts tenant={tenant} />
          )
        }
      </Shown>
    </section>
  );
}

interface ToStatementProps {
  readonly place: Place;
  readonly group: BreakdownRow;
  readonly of: Payers;
}

function ToStatement({ place, group, of }: ToStatementProps) {
  const filter: Filter = { column: of, isExcluding: false, values: [group.dimensions[of] ?? ""] };
  return (
    <Link href={changed(place, { ...filterParameters(filter), of: undefined })}>
      <bdi>{nameOf(group, [of])}</bdi>
    </Link>
  );
}
