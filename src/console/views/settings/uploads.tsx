/** Uploads of usage: what was uploaded, when and by whom, and a form for a CSV. */
import { useContext, useState } from "preact/hooks";
import { api, bodyOf, type Schemas } from "../../api/client.js";
import { get, useApi } from "../../api/use-api.js";
import { Field } from "../../parts/controls.js";
import { FieldError, Shown } from "../../parts/messages.js";
import { PageLinks, shownPage, useLastPage } from "../../parts/pages.js";
import { RequireScope } from "../../parts/require-scope.js";
import { DataTable, type TableColumn } from "../../parts/table.js";
import { SignedInCaller } from "../../state/caller.js";
import { shownInstant } from "../../state/days.js";
import type { Place } from "../../state/location.js";
import { useChange } from "../../state/use-change.js";
import { useLoaded } from "../../state/use-data.js";
import { en } from "../../text/en.js";

const text = en.settings;
type Upload = Schemas["ListedUsageUpload"];

interface UploadsProps {
  readonly place: Place;
  readonly tenant: string;
}

export function Uploads({ place, tenant }: UploadsProps) {
  const page = shownPage(place);
  const query = { page, page_size: 50 };
  const data = useApi("/api/v1/tenants/{tenant_name}/usage", { path: { tenant_name: tenant }, query });
  useLastPage(place, data);
  const actors = useActors(tenant);
  const columns: TableColumn<Upload>[] = [
    { key: "key", title: text.key, wraps: true, cell: ({ idempotency_key: key }) => <bdi>{key}</bdi> },
    { key: "received", title: text.received, cell: ({ started_at: at }) => shownInstant(at) },
    {
      key: "origin",
      title: text.origin,
      cell: ({ origin, upload_id: id }) => <bdi>{actors.get(id) ?? text.origins[origin]}</bdi>,
    },
    { key: "state", title: text.state, leads: true, cell: (upload) => <State upload={upload} /> },
    {
      key: "days",
      title: text.days,
      cell: ({ first_day: first, last_day: last }) => (first === last ? first : `${first} – ${last}`),
    },
    {
      key: "metrics",
      title: text.metrics,
      wraps: true,
      cell: ({ metrics }) => <bdi>{metrics.join(", ")}</bdi>,
    },
    { key: "rows", title: text.rows, isNumber: true, cell: ({ rows }) => rows?.toLocaleString("en") ?? "" },
    {
      key: "effect",
      title: text.inEffect,
      cell: ({ day_metrics: all, day_metrics_in_effect: now }) =>
        all === null ? "" : text.inEffectOf(now, all),
    },
  ];
  return (
    <section class="card">
      <h2>{text.uploads}</h2>
      <p class="hint">{text.uploadsHint}</p>
      <Shown data={data}>
        {({ items, total, pages, accepted_metrics: metrics }) => (
          <>
            {metrics.length === 0 && <p>{text.notTaken}</p>}
            {metrics.length > 0 && total === 0 && <p>{text.noUploads}</p>}
            {total > 0 && (
              <>
                <DataTable
                  caption={text.uploads}
                  columns={columns}
                  rows={items}
                  keyOf={({ upload_id: id }) => String(id)}
                />
                <PageLinks place={place} page={page} pages={pages} countText={text.count(total)} />
              </>
            )}
            {metrics.length > 0 && (
              <RequireScope scope="run">
                <UploadForm tenant={tenant} />
              </RequireScope>
            )}
          </>
        )}
      </Shown>
    </section>
  );
}

/** Returns the names of those who made the newest uploads, by the id of the upload. Only administrators may read the audit. */
function useActors(tenant: string): ReadonlyMap<number, string> {
  const isAdmin = useContext(SignedInCaller)?.scopes.includes("admin") === true;
  const { value } = useLoaded(loadUploadAudit, isAdmin ? tenant : undefined);
  return new Map(
    value?.items.map(({ subject, actor }) => [Number(subject.upload_id), actor ?? en.access.nobody]),
  );
}

function loadUploadAudit(tenant: string, signal: AbortSignal) {
  const query = { action: "uploadUsage", page_size: 100 };
  return get("/api/v1/tenants/{tenant_name}/audit", { path: { tenant_name: tenant }, query }, signal);
}

function State({ upload: { state, problems } }: { readonly upload: Upload }) {
  if (problems.length === 0) return <>{text.states[state]}</>;
  return (
    <details>
      <summary>
        {text.states[state]}, {text.problems(problems.length)}
      </summary>
      <ul>
        {problems.map(({ row, column, detail }) => (
          <li key={`${row} ${column} ${detail}`}>
            <bdi>{text.problem(row, column, detail)}</bdi>
          </li>
        ))}
      </ul>
    </details>
  );
}

const MAX_KEY = 200;

function UploadForm({ tenant }: { readonly tenant: string }) {
  const [file, setFile] = useState<File>();
  const [name, setName] = useState("");
  const [done, setDone] = useState<Schemas["UsageUpload"]>();
  const { error, isBusy, change } = useChange();
  const send = async () => {
    setDone(undefined);
    const params = { path: { tenant_name: tenant }, header: { "Idempotency-Key": name } };
    const sent = api.POST("/api/v1/tenants/{tenant_name}/usage", {
      params,
      headers: { "content-type": "text/csv" },
      body: file as never,
      bodySerializer: (body: unknown) => body as Blob,
    });
    setDone(await bodyOf(sent));
  };
  return (
    <form
      class="controls"
      aria-label={text.upload}
      onSubmit={(event) => {
        event.preventDefault();
        void change(send);
      }}
    >
      <label>
        {text.file}{" "}
        <input
          type="file"
          accept=".csv,text/csv"
          required
          onChange={({ currentTarget: { files } }) => {
            const [chosen] = files ?? [];
            setFile(chosen);
            if (name === "" && chosen !== undefined) setName(chosen.name.slice(0, MAX_KEY));
          }}
        />
      </label>
      <Field label={text.name} value={name} maxLength={MAX_KEY} onInput={setName} />
      <button type="submit" class="primary" disabled={isBusy}>
        {text.send}
      </button>
      <span class="hint">{text.nameHint}</span>
      <span role="status">{done !== undefined && text.done(done.rows, done.days_to_recalculate.length)}</span>
      <FieldError error={error} />
    </form>
  );
}
