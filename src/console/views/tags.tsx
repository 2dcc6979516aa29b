/** Tags: costs by value of a tag, a list of all tags, and a form that tags everything the filters select. */
import { useEffect, useState } from "preact/hooks";
import {
  type BreakdownRequest,
  type BreakdownRow,
  bucketAmount,
  type ShownBreakdown,
  useBreakdown,
} from "../api/breakdown.js";
import { api, bodyOf, type Schemas } from "../api/client.js";
import { tagColumnsOf, useTagKeys } from "../api/questions.js";
import { useApi } from "../api/use-api.js";
import { percentage } from "../money/amount-text.js";
import { Choice, Field, PlaceSearch } from "../parts/controls.js";
import { FilterBar } from "../parts/filter-bar.js";
import { Link } from "../parts/link.js";
import { Empty, FieldError, Shown } from "../parts/messages.js";
import { PageLinks, shownPage, useLastPage } from "../parts/pages.js";
import { shownPeriod } from "../parts/period-picker.js";
import { PeriodProof } from "../parts/reconciliation-banner.js";
import { RequireScope } from "../parts/require-scope.js";
import { DataTable, type TableColumn } from "../parts/table.js";
import { Author, longest, TagName, useAuthor } from "../parts/tag-editor.js";
import { useNames } from "../parts/whose.js";
import { filterParameters, filterQuery, filtersOf } from "../state/filters.js";
import { changed, go, type Place } from "../state/location.js";
import { viewPath } from "../state/paths.js";
import { periodOf, periodParameters } from "../state/period.js";
import { useChange } from "../state/use-change.js";
import { reloadAll } from "../state/use-data.js";
import { columnName, en } from "../text/en.js";

const text = en.tags;
/** The API's name for rows without the tag. */
const UNTAGGED = "UNTAGGED";
const MAX_VALUES = 1000;
const PAGE_SIZE = 50;

interface ViewProps {
  readonly place: Place;
  readonly tenant: string;
}

export function Tags({ place, tenant }: ViewProps) {
  const tagKeys = useTagKeys(tenant, periodOf(place));
  const names = useNames({ tenant, period: periodOf(place), filters: filtersOf(place) });
  const key = place.query.get("key") ?? tagKeys.value?.tag_keys[0];
  const request: BreakdownRequest = {
    tenant,
    period: periodOf(place),
    filters: filtersOf(place),
    groupBy: [`tag:${key ?? ""}`],
    limit: MAX_VALUES,
  };
  const coverage = useBreakdown(key === undefined ? undefined : request);
  return (
    <>
      <div class="title">
        <h1>{text.title}</h1>
        <span class="hint">{shownPeriod(periodOf(place))}</span>
      </div>
      <FilterBar place={place} tenant={tenant} tagColumns={tagColumnsOf(tagKeys)} names={names} />
      <PeriodProof tenant={tenant} period={periodOf(place)} />
      <Shown data={tagKeys}>
        {({ tag_keys: known }) =>
          known.length === 0 ? (
            <Empty title={text.none}>
              <p>{text.noneHint}</p>
            </Empty>
          ) : (
            <section class="card">
              <Choice
                label={text.key}
                value={key ?? ""}
                options={[...new Set([...known, ...(key === undefined ? [] : [key])])].map((each) => [
                  each,
                  each,
                ])}
                onChoose={(each) => go(changed(place, { key: each }))}
              />
              <Shown data={coverage} height="12rem">
                {(breakdown) => (
                  <Coverage breakdown={breakdown} place={place} tenant={tenant} tagKey={key ?? ""} />
                )}
              </Shown>
            </section>
          )
        }
      </Shown>
      {(tagKeys.value?.tag_keys.length ?? 0) > 0 && <EachTag place={place} tenant={tenant} />}
      <RequireScope scope="tags">
        <TagForm place={place} tenant={tenant} initialKey={key ?? ""} />
      </RequireScope>
    </>
  );
}

interface CoverageProps extends ViewProps {
  readonly breakdown: ShownBreakdown;
  readonly tagKey: string;
}

function Coverage({ breakdown, place, tenant, tagKey }: CoverageProps) {
  const column = `tag:${tagKey}` as const;
  const nameOf = (group: BreakdownRow) => group.dimensions[column] ?? "";
  const wholeOf = (group: BreakdownRow) =>
    breakdown.totals.find(({ currency }) => currency === group.currency);
  const columns: TableColumn<BreakdownRow>[] = [
    {
      key: "value",
      title: en.tagColumn(tagKey),
      cell: (group) => (
        <Link
          href={changed(
            place,
            {
              ...filterParameters({ column, isExcluding: false, values: [nameOf(group)] }),
              group_by: "identity_id",
            },
            viewPath(tenant, "explorer"),
          )}
        >
          <bdi>{nameOf(group) === UNTAGGED ? text.untagged : nameOf(group)}</bdi>
        </Link>
      ),
    },
    {
      key: "share",
      title: en.overview.share,
      isNumber: true,
      cell: (group) => {
        const whole = wholeOf(group);
        return whole && percentage(bucketAmount(group), bucketAmount(whole));
      },
    },
    {
      key: "amount",
      title: en.overview.amount,
      isNumber: true,
      leads: true,
      money: (group) => [{ value: bucketAmount(group), currency: group.currency }],
    },
  ];
  return (
    <DataTable
      caption={text.coverage(tagKey)}
      columns={columns}
      rows={breakdown.groups}
      keyOf={(group) => `${group.currency} ${nameOf(group)}`}
    />
  );
}

type Tag = Schemas["TagInContext"];

/** The tags of all dimensions, with buttons to rename and remove them. */
function EachTag({ place, tenant }: ViewProps) {
  const search = place.query.get("search") ?? "";
  const page = shownPage(place);
  const query = { page, page_size: PAGE_SIZE, ...(search !== "" && { search }) };
  const data = useApi("/api/v1/tenants/{tenant_name}/tags", { path: { tenant_name: tenant }, query });
  useLastPage(place, data);
  const plain = (key: "tag_key" | "identity_id" | "product_type" | "resource_id" | "created_by") => ({
    key,
    title: key === "tag_key" ? text.key : key === "created_by" ? text.by : columnName(key),
    cell: (tag: Tag) => <bdi title={tag[key]}>{tag[key]}</bdi>,
  });
  const columns: TableColumn<Tag>[] = [
    plain("tag_key"),
    { key: "value", title: text.value, cell: (tag) => <TagName tenant={tenant} tag={tag} /> },
    plain("identity_id"),
    plain("product_type"),
    plain("resource_id"),
    plain("created_by"),
    {
      key: "more",
      title: "",
      cell: (tag) => <Link href={changed(place, { dimension: String(tag.dimension_id) })}>{text.more}</Link>,
    },
  ];
  return (
    <section class="card each-tag">
      <h2>{text.each}</h2>
      <p class="controls">
        <PlaceSearch place={place} label={text.search} />
      </p>
      <Shown data={data}>
        {({ items, total, pages }) =>
          total === 0 ? (
            <p class="hint">{text.noneFound}</p>
          ) : (
            <>
              <DataTable
                caption={text.each}
                columns={columns}
                rows={items}
                keyOf={({ tag_id }) => String(tag_id)}
              />
              <PageLinks place={place} page={page} pages={pages} countText={text.count(total)} />
            </>
          )
        }
      </Shown>
    </section>
  );
}

type Counts = Schemas["BulkResult"];

interface TagFormProps extends ViewProps {
  readonly initialKey: string;
}

/** Tags everything the filters select, after a preview of the number of changes. */
function TagForm({ place, tenant, initialKey }: TagFormProps) {
  const [key, setKey] = useState(initialKey);
  const [name, setName] = useState("");
  const { author, setAuthor, remember } = useAuthor();
  const [override, setOverride] = useState(false);
  const [preview, setPreview] = useState<Counts>();
  const [done, setDone] = useState<Counts>();
  const { error, isBusy, change } = useChange();
  const chosen = JSON.stringify([place.query.toString(), tenant]);
  // A preview is valid only for the input that it was made with.
  useEffect(() => setPreview(undefined), [chosen, key, name, override]);
  useEffect(() => setDone(undefined), [chosen]);
  useEffect(() => setKey(initialKey), [initialKey]);

  const send = (dryRun: boolean) =>
    change(
      async () => {
        remember();
        const body = {
          tag_key: key,
          display_name: name,
          created_by: author,
          override_existing: override,
          dry_run: dryRun,
          ...periodParameters(periodOf(place)),
          ...filterQuery(filtersOf(place)),
        };
        const params = { path: { tenant_name: tenant } };
        const counts = await bodyOf(
          api.POST("/api/v1/tenants/{tenant_name}/tags/bulk-by-filter", { params, body }),
        );
        setPreview(dryRun ? counts : undefined);
        setDone(dryRun ? undefined : counts);
      },
      dryRun ? () => undefined : reloadAll,
    );
  const count = preview === undefined ? 0 : preview.created_count + preview.updated_count;
  return (
    <form
      class="card tag-form"
      onSubmit={(event) => {
        event.preventDefault();
        void send(true);
      }}
    >
      <h2>{text.tagThese}</h2>
      <p class="hint">{text.tagTheseHint}</p>
      <div class="controls">
        <Field label={text.key} value={key} maxLength={longest.tag_key} onInput={setKey} />
        <Field label={text.value} value={name} maxLength={longest.display_name} onInput={setName} />
        <Author author={author} setAuthor={setAuthor} />
        <label>
          <input
            type="checkbox"
            checked={override}
            onChange={({ currentTarget }) => setOverride(currentTarget.checked)}
          />{" "}
          {text.override}
        </label>
        <button type="submit" disabled={isBusy}>
          {text.preview}
        </button>
        {preview !== undefined && count > 0 && (
          <button type="button" class="primary" disabled={isBusy} onClick={() => void send(false)}>
            {text.apply(count)}
          </button>
        )}
      </div>
      <p role="status">
        {preview !== undefined &&
          text.would(preview.created_count, preview.updated_count, preview.skipped_count)}
        {done !== undefined && text.did(done.created_count, done.updated_count)}
      </p>
      <FieldError error={error} />
    </form>
  );
}
