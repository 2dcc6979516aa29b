/**
 * Drawer with the costs, owners and versions of a resource or an identity. It is open while the address of the inventory has `history`.
 */
import { lastOfMonth } from "../../common/days.js";
import type { Schemas } from "../api/client.js";
import { get } from "../api/use-api.js";
import { shownInstant } from "../state/days.js";
import type { Place } from "../state/location.js";
import { periodOf } from "../state/period.js";
import { useLoaded } from "../state/use-data.js";
import { en } from "../text/en.js";
import { Drawer } from "./drawer.js";
import { Shown } from "./messages.js";
import { MonthBars } from "./month-bars.js";
import { DataTable, type TableColumn } from "./table.js";

const text = en.history;
const MAX_VERSIONS = 1000;

type Version = Schemas["ResourceVersion"] | Schemas["IdentityVersion"];

interface HistoryRequest {
  readonly tenant: string;
  readonly kind: "resources" | "identities";
  readonly id: string;
}

interface HistoryProps extends HistoryRequest {
  readonly place: Place;
}

interface Versions {
  readonly items: readonly Version[];
  readonly total: number;
}

function loadVersions({ tenant, kind, id }: HistoryRequest, signal: AbortSignal): Promise<Versions> {
  const path = { tenant_name: tenant };
  const page_size = MAX_VERSIONS;
  return kind === "resources"
    ? get(
        "/api/v1/tenants/{tenant_name}/resources/history",
        { path, query: { page_size, resource_id: id } },
        signal,
      )
    : get(
        "/api/v1/tenants/{tenant_name}/identities/history",
        { path, query: { page_size, identity_id: id } },
        signal,
      );
}

export function VersionHistory({ place, tenant, kind, id }: HistoryProps) {
  const data = useLoaded(loadVersions, { tenant, kind, id });
  return (
    <Drawer place={place} parameter="history" title={text.title}>
      <h2>{text.title}</h2>
      <p>
        <bdi class="long">{id}</bdi>
      </p>
      <Shown data={data} height="12rem">
        {({ items, total }) => (
          <>
            <section class="months">
              <h3>{kind === "resources" ? text.costs : text.costsOfTeam}</h3>
              <MonthBars
                tenant={tenant}
                period={periodOf(place)}
                filters={[
                  {
                    column: kind === "resources" ? "resource_id" : "identity_id",
                    isExcluding: false,
                    values: [id],
                  },
                ]}
                note={(month) => <bdi class="hint long">{belongedTo(kind, items, month)}</bdi>}
              />
            </section>
            <h3>{text.versions}</h3>
            <DataTable
              caption={text.title}
              columns={columnsOf(kind)}
              rows={withoutRepeats(items)}
              keyOf={(each) => each.valid_from ?? ""}
            />
            {total > items.length && <p class="hint">{text.older(total - items.length)}</p>}
          </>
        )}
      </Shown>
    </Drawer>
  );
}

const ownerOf = (each: Version) => ("resource_id" in each ? each.owner_id : null);
const parentOf = (each: Version) => ("resource_id" in each ? each.parent_id : null);
const teamOf = ({ metadata }: Version) => (typeof metadata.team === "string" ? metadata.team : null);
const shownFieldsOf = (each: Version) => [
  each.deleted_at,
  each.display_name,
  ownerOf(each),
  parentOf(each),
  teamOf(each),
];

/** The owners or teams in a month, in the order of time: `sa-1 → sa-2`. `versions` begin with the newest. */
function belongedTo(kind: HistoryProps["kind"], versions: readonly Version[], month: string): string {
  const end = `${lastOfMonth(month)}T24`;
  const names = versions
    .filter(
      ({ valid_from, valid_to, created_at, deleted_at }) =>
        deleted_at === null &&
        (valid_from ?? created_at ?? "") < end &&
        (valid_to === null || valid_to > `${month}T00:00:00Z`),
    )
    .map((each) => (kind === "resources" ? ownerOf(each) : teamOf(each)))
    .reverse();
  if (names.every((name) => name === null)) return "";
  const different = names.filter((name, index) => index === 0 || name !== names[index - 1]);
  return different.map((name) => name ?? text.nobody).join(" → ");
}

/** Merges consecutive versions that look the same in the table. Newest first. */
function withoutRepeats(versions: readonly Version[]): Version[] {
  const shown: Version[] = [];
  for (const each of versions) {
    const newer = shown.at(-1);
    if (newer !== undefined && JSON.stringify(shownFieldsOf(newer)) === JSON.stringify(shownFieldsOf(each)))
      shown[shown.length - 1] = { ...newer, valid_from: each.valid_from };
    else shown.push(each);
  }
  return shown;
}

function columnsOf(kind: HistoryProps["kind"]): TableColumn<Version>[] {
  const plain = (
    key: string,
    title: string,
    textOf: (each: Version) => string | null,
  ): TableColumn<Version> => ({
    key,
    title,
    cell: (each) => <bdi title={textOf(each) ?? undefined}>{textOf(each) ?? ""}</bdi>,
  });
  return [
    {
      key: "from",
      title: en.period.from,
      cell: ({ valid_from, created_at }) =>
        valid_from !== null
          ? shownInstant(valid_from)
          : created_at === null
            ? text.unknownStart
            : shownInstant(created_at),
    },
    {
      key: "to",
      title: en.period.to,
      cell: ({ valid_to }) => (valid_to === null ? text.now : shownInstant(valid_to)),
    },
    {
      key: "status",
      title: en.inventory.status,
      cell: ({ deleted_at }) => en.inventory.statuses[deleted_at === null ? "active" : "deleted"],
    },
    ...(kind === "resources"
      ? [plain("owner", en.inventory.owner, ownerOf)]
      : [plain("team", en.inventory.team, teamOf)]),
    plain("name", en.inventory.name, (each) => each.display_name),
    ...(kind === "resources" ? [plain("parent", en.inventory.parent, parentOf)] : []),
  ];
}
